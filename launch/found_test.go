package launch

import (
	"errors"
	"fmt"
	"strings"
	"testing"

	"sdm/protocol"
	"sdm/protocol/rank"
)

// TestFound makes one table of the output of several hosts, with text of their shells in between.
func TestFound(t *testing.T) {
	text := AppendFound([]byte("Welcome to b!\n"), "b", protocol.Proctable{{Rank: 3, PID: 30}, {Rank: 1, PID: 10}}, Whole{Size: 5}, nil)
	text = AppendFound(append(text, "\n{\"other\":1}\n"...), "a", protocol.Proctable{{Rank: 0, PID: 10}}, Whole{Size: 5}, nil)
	text = AppendFound(text, "c", nil, Whole{Size: Unknown}, errors.New("nothing\nhere"))
	all, err := ReadFound(strings.NewReader(string(text)))
	if err != nil || len(all) != 3 || all[2].Error != "nothing\nhere" {
		t.Fatalf("%+v, %v", all, err)
	}
	table, missing, err := Joined("7.0", all)
	if got := rows(table); got != "0:a:10 1:b:10 3:b:30" || missing.String() != "2,4" || err != nil {
		t.Errorf("%s, without %s, %v", got, missing, err)
	}
	for _, bad := range []string{`{"host":"a","ranks":[{"rank":0,"pid":1},{"rank":0,"pid":2}]}`, `{"host":"","ranks":[{"rank":0,"pid":1}]}`,
		`{"host":"a","ranks":[{"rank":-1,"pid":1}]}`, `{"host":"a","ranks":[{"rank":0,"pid":0}]}`, `{"host":"a","ranks":7}`, `{"host":`} {
		all, err := ReadFound(strings.NewReader(bad))
		if err == nil {
			_, _, err = Joined("7.0", all)
		}
		if err == nil || strings.Contains(err.Error(), "\n") {
			t.Errorf("%s: %v", bad, err)
		}
	}
}

// FuzzReadFound checks that a table that is accepted is valid, and is the same when it is written
// and read again.
func FuzzReadFound(f *testing.F) {
	f.Add(`x{"host":"a","size":2,"ranks":[{"rank":0,"pid":1}]}`)
	f.Add("noise\n" + `{"host":"a","size":2,"ranks":[{"rank":0,"pid":1}]}` + "\n" + `{"host":"b","size":-1,"ranks":[],"error":"x"}`)
	f.Fuzz(func(t *testing.T, text string) {
		all, err := ReadFound(strings.NewReader(text))
		if err != nil {
			return
		}
		table, missing, err := Joined("7.0", all)
		if err != nil {
			return
		}
		if err := table.Check(); err != nil || missing.Intersects(table.Ranks()) {
			t.Fatalf("%q gives %v without %s: %v", text, table, missing, err)
		}
		var b []byte
		for _, p := range table {
			b = AppendFound(b, p.Host, protocol.Proctable{p}, Whole{Size: Unknown}, nil)
		}
		all, err = ReadFound(strings.NewReader(string(b)))
		if err != nil {
			t.Fatalf("%q: %v", b, err)
		}
		if again, _, err := Joined("7.0", all); err != nil || fmt.Sprint(again) != fmt.Sprint(table) {
			t.Fatalf("%q: %v, then %v, %v", text, table, again, err)
		}
	})
}

// TestJoinedOfNothing: a size above the limit makes no missing ranks.
func TestJoinedOfNothing(t *testing.T) {
	table, missing, err := Joined("x", []Found{{Host: "a", Size: int(rank.MaxID) + 1}})
	if len(table) > 0 || !missing.IsEmpty() || err != nil {
		t.Error(table, missing, err)
	}
}
