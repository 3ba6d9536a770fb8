// Means per minute of the beacons' telemetry, from readings, which are kept for days only. Points of `reading` are those of
// earlier versions, a series for each receiver. Each run handles three slices of the past: the last minutes, one slice of the last two hours and one slice of the last seven
// days, so that late readings are included within 20 minutes, or within a day. Writing a minute again overwrites the same points.
import "date"

option task = {name: "telemetry", every: 1m, offset: 10s}

minute = int(v: 1m)
last = int(v: date.truncate(t: now(), unit: 1m))

// The slice of `width` minutes for this run: each run's slice lies `width` before the previous run's.
slice = (width, slices) => {
    back = last / minute % slices * width * minute

    return {start: time(v: last - back - width * minute), stop: time(v: last - back)}
}

minutes = (start, stop) =>
    from(bucket: "readings")
        |> range(start: start, stop: stop)
        |> filter(fn: (r) => r._measurement == "measured" or r._measurement == "reading")
        |> filter(fn: (r) => r._field == "battery_mv" or r._field == "temperature_c" or r._field == "humidity_pct")
        |> aggregateWindow(every: 1m, fn: mean, createEmpty: false, timeSrc: "_start")
        |> group(columns: ["beacon", "_field"])
        |> aggregateWindow(every: 1m, fn: mean, createEmpty: false, timeSrc: "_start")
        |> set(key: "_measurement", value: "telemetry")
        |> to(bucket: "telemetry")

recent = slice(width: 7, slices: 20)
week = slice(width: 8, slices: 1440)

minutes(start: time(v: last - 5 * minute), stop: time(v: last)) |> yield(name: "fresh")
minutes(start: recent.start, stop: recent.stop) |> yield(name: "recent")
minutes(start: week.start, stop: week.stop) |> yield(name: "week")
