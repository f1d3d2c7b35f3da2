package main

import (
	"slices"
	"testing"
)

func TestAdoptedEnvironment(t *testing.T) {
	got := mergedEnviron(
		[]string{"PATH=/rank/bin", "HOME=/home/u", "LD_LIBRARY_PATH=/lib/x", "LD_PRELOAD=/lib/spy.so", "PMI_RANK=3", "OMPI_COMM_WORLD_RANK=3", "SDM_PORT=1", "", "nonsense"},
		[]string{"PATH=/bin", "SDM_LOG=x", "LANG=C"})
	want := []string{"PATH=/rank/bin", "HOME=/home/u", "LD_LIBRARY_PATH=/lib/x", "SDM_LOG=x"}
	if !slices.Equal(got, want) {
		t.Errorf("%q, want %q", got, want)
	}
}
