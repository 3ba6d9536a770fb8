//go:build tools

// Package tools names what the native installer builds from this module, so that go.mod and go.sum pin it.
package tools

import (
	_ "github.com/influxdata/influxdb/v2/cmd/influxd"
	_ "github.com/influxdata/pkg-config"
)
