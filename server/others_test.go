package server

import (
	"testing"

	"sdm/protocol/rank"
)

func TestOthers(t *testing.T) {
	var o others
	check := func(what, live, ended string) {
		t.Helper()
		if o.live().String() != live || o.ended.String() != ended {
			t.Errorf("%s: live %v, want %s; ended %v, want %s", what, o.live(), live, o.ended, ended)
		}
	}
	check("no rank", "", "")
	o.add(rank.Range(0, 5))
	o.end(rank.Range(4, 9))
	check("some end, and some that are not ours", "0-3", "4-5")
	o.add(rank.Of(5))
	check("one is attached to again", "0-3,5", "4")
	o.forget(rank.Range(3, 4))
	check("we have started some ourselves", "0-2,5", "")
}
