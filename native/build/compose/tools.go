//go:build tools

// Package tools names what the native installer builds from this module, so that go.mod and go.sum pin it.
package tools

import (
	_ "github.com/docker/compose/v2/cmd"
)
