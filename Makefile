# Every target is one call of native/stack (help: make help).
.DEFAULT_GOAL := help
.PHONY: help up down status logs clean env check yardsticks test test-extras test-compose test-compose-extras page-figures chaos fuzz accuracy account building key
.PHONY: rebuild erase store-fill campus campus-status campus-down campus-key campus-files campus-chaos simulator lab

help:            ## this list
	@awk -F ':.*## ' '/^[a-z-]+:.*## / { printf "  make %-12s %s\n", $$1, $$2 }' $(MAKEFILE_LIST)
up:              ## install what is missing, start everything, and a demo of 50 SDAs and 113 gateways in the demo building (SIM=0: without)
	@native/stack up
down:            ## stop everything, keep the data
	@native/stack down
status:          ## health and version of each part
	@native/stack status
logs:            ## follow all logs
	@native/stack logs
clean:           ## delete data and secrets; asks first (YES=1: does not)
	@native/stack clean $(if $(YES),--yes)
env:             ## write .env only, for `docker compose up` by hand
	@native/stack env
check:           ## linters, type checkers, validation of the configuration
	@native/stack check
yardsticks:      ## files and lines by room, arrows between rooms, words of Markdown
	@native/stack yardsticks
test:            ## all tests of the core against real services; ARGS='tests/system -k kill' for some
	@native/stack test $(ARGS)
test-extras:     ## all tests of campus and load laboratory; ARGS='extras/campus/tests -k kill' for some
	@native/stack test-extras $(ARGS)
test-compose:    ## tests of the containers on a real engine, with both kinds of image store; ARGS='-k faulty' for some
	@native/stack test-compose $(ARGS)
test-compose-extras: ## the same of a campus in containers
	@native/stack test-compose-extras $(ARGS)
chaos:           ## kill services at random under load, prove that nothing is lost; ARGS='--minutes 5 --seed 7', --help
	@native/stack chaos $(ARGS)
page-figures:    ## how soon a marker moves in a browser under load; ARGS='--heap-minutes 60': the page's memory
	@native/stack page-figures $(ARGS)
lab:             ## load tests with reports: SCENARIO=a-tp-1 (none: a list); FORM=long; ARGS='--tries 3 --resume', --help
	@EXTRA=lab native/stack lab $(if $(SCENARIO),run $(foreach one,$(SCENARIO),'$(one)') --form $(or $(FORM),short)) $(ARGS)
fuzz:            ## a million almost valid messages through both parsers, ingest's and the flows'; ARGS='--mutations 20000 --seed 7'
	@native/stack fuzz $(ARGS)
accuracy:        ## how often the room is right, a table and pictures; DATA=<folders> of recordings
	@native/stack accuracy $(foreach folder,$(DATA),--data '$(folder)') $(ARGS)
account:         ## broker accounts: ARGS='add gateway lobby-1', list, rotate, remove
	@native/stack account $(ARGS)
key:             ## keys for the HTTP API: ARGS='add hacs --right history --expires 90d', list, revoke, --help
	@native/stack key $(ARGS)
building:        ## your own building: ARGS='from-list beacons.csv' makes one from an installer's list; check, --help
	@native/stack building $(ARGS)
erase:           ## with STORES=2: erase a person from both InfluxDBs: PERSON=7 TAGS='C2A628384B08 …'; without: what is owed
	@EXTRA=campus native/stack erase '$(PERSON)' '$(TAGS)'
store-fill:      ## with STORES=2: copy into one InfluxDB what the other has, and compare the counts: FROM=1 TO=2
	@EXTRA=campus native/stack store-fill '$(FROM)' '$(TO)'
rebuild:         ## locate a time again from stored readings: FROM=2026-01-01T10:00 TO=2026-01-01T12:30 (UTC)
	@native/stack rebuild '$(FROM)' '$(TO)'
campus:          ## two sites, a cluster of three NATS nodes, one entry for both (extras/campus/docs/campus.md); CAMPUS=my.toml: others
	@EXTRA=campus native/stack campus
campus-status:   ## health and version of each part of these
	@EXTRA=campus native/stack campus-status
campus-down:     ## stop these, keep their data
	@EXTRA=campus native/stack campus-down
campus-key:      ## keys for that entry: ARGS='add hacs --right history --expires 90d', list, revoke, --help
	@EXTRA=campus native/stack campus-key $(ARGS)
campus-files:    ## a folder for each host of a campus in containers (extras/campus/docs/campus-compose.md); CAMPUS=my-hosts.toml
	@EXTRA=campus native/stack campus-files
campus-chaos:    ## parts of a campus killed, frozen, cut off under load; ARGS='--minutes 5 --seed 7', --help
	@EXTRA=campus native/stack campus-chaos $(ARGS)
simulator:       ## simulate SDAs: ARGS='phones -n 200', 'replay walk.csv', 'hacs', --help
	@native/stack simulator $(ARGS)
