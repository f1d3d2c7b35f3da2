package main

import (
	"os"
	"testing"

	"sdm/launch/local"
)

// TestMain begins as main does, since the floors start this program again.
func TestMain(m *testing.M) {
	local.ShimMain(os.Args)
	if len(os.Args) > 1 && children[os.Args[1]] != nil {
		children[os.Args[1]](os.Args[2:])
		return
	}
	os.Exit(m.Run())
}
