// What beacons measured, minute by minute, out of the readings, which are kept for days only. A minute is the mean of what each
// receiver heard in it (its own mean). Each run takes three pieces of the past: the last minutes; a piece of the last two hours and a
// piece of the last seven days, another one each time, so that what came late is in within 20 minutes, or within a day. Writing a
// minute again changes nothing but what has changed.
import "date"

option task = {name: "telemetry", every: 1m, offset: 10s}

minute = int(v: 1m)
last = int(v: date.truncate(t: now(), unit: 1m))

// The piece of `width` minutes whose turn it is: each lies `width` before the one before, while the present goes on by one.
turn = (width, turns) => {
    back = last / minute % turns * width * minute

    return {start: time(v: last - back - width * minute), stop: time(v: last - back)}
}

minutes = (start, stop) =>
    from(bucket: "readings")
        |> range(start: start, stop: stop)
        |> filter(fn: (r) => r._measurement == "reading")
        |> filter(fn: (r) => r._field == "battery_mv" or r._field == "temperature_c" or r._field == "humidity_pct")
        |> aggregateWindow(every: 1m, fn: mean, createEmpty: false, timeSrc: "_start")
        |> group(columns: ["beacon", "_field"])
        |> aggregateWindow(every: 1m, fn: mean, createEmpty: false, timeSrc: "_start")
        |> set(key: "_measurement", value: "telemetry")
        |> to(bucket: "telemetry")

recent = turn(width: 7, turns: 20)
week = turn(width: 8, turns: 1440)

minutes(start: time(v: last - 5 * minute), stop: time(v: last)) |> yield(name: "fresh")
minutes(start: recent.start, stop: recent.stop) |> yield(name: "recent")
minutes(start: week.start, stop: week.stop) |> yield(name: "week")
