package main

import (
	"slices"
	"strings"
	"testing"
)

func TestAdoptedEnvironment(t *testing.T) {
	got := adopted(
		[]string{"PATH=/rank/bin", "HOME=/home/u", "LD_LIBRARY_PATH=/lib/x", "LD_PRELOAD=/lib/spy.so", "PMI_RANK=3", "OMPI_COMM_WORLD_RANK=3", "SDM_PORT=1", "", "nonsense"},
		[]string{"PATH=/bin", "SDM_LOG=x", "LANG=C"})
	want := []string{"PATH=/rank/bin", "HOME=/home/u", "LD_LIBRARY_PATH=/lib/x", "SDM_LOG=x"}
	if !slices.Equal(got, want) {
		t.Errorf("%q, want %q", got, want)
	}
}

func TestPlaceOf(t *testing.T) {
	for _, c := range []struct {
		list, host string
		want       int
	}{{"a,b,c", "b", 1}, {"a.x.org,b.x.org", "b", 1}, {"a,b", "b.x.org", 1}, {"b.y,b.x", "b.x", 1}} {
		if got, err := placeOf(c.list, c.host); err != nil || got != c.want {
			t.Errorf("%s in %s: %d, %v", c.host, c.list, got, err)
		}
	}
	if _, err := placeOf("a,b", "c"); err == nil || !strings.Contains(err.Error(), "this host, c,") {
		t.Errorf("%v", err)
	}
}
