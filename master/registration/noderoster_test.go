package registration

import (
	"context"
	"fmt"
	"strings"
	"testing"
	"time"

	"sdm/protocol/rank"
	"sdm/tree/overlay"
)

func someRanks(text string) *rank.Set {
	set, err := rank.Parse(text, rank.Env{All: rank.Range(0, 63)})
	if err != nil {
		panic(err)
	}
	return &set
}

// ofNode returns the registration of a server that is for all slots of its node.
func ofNode(list string, size, pid int) overlay.Registration {
	return overlay.Registration{
		Ranks: *someRanks(list), Size: size, PID: pid, Host: fmt.Sprintf("node%02d", pid), Addrs: []string{"x:1"},
	}
}

// decisions is a rendezvous that records the answers to registrations.
type decisions struct {
	coming []overlay.Registration
	said   map[string]string // "0" or the refusal, by ranks
}

func (v *decisions) Accept(ctx context.Context) (overlay.Registration, func(overlay.Decision), error) {
	if len(v.coming) == 0 {
		return overlay.Registration{}, nil, tooLate(ctx)
	}
	r := v.coming[0]
	v.coming = v.coming[1:]
	return r, func(said overlay.Decision) {
		if said.Refusal != "" {
			v.said[r.Ranks.String()] = said.Refusal
			return
		}
		v.said[r.Ranks.String()] = fmt.Sprint(said.Server)
	}, nil
}

func TestNodeSlots(t *testing.T) {
	for _, tt := range []struct {
		name   string
		g      Slots
		coming []overlay.Registration
		said   string // parts of the answers, "ranks: text; …"
		table  string // or part of the error
	}{
		{"in any order", Slots{}, []overlay.Registration{ofNode("4-7", 8, 1), ofNode("0-3", 8, 2)}, "0-3: 0; 4-7: 1", "0-3 node02, 4-7 node01"},
		{"round robin", Slots{}, []overlay.Registration{ofNode("1,3", 4, 1), ofNode("0,2", 4, 2)}, "0,2: 0; 1,3: 1", "0,2 node02, 1,3 node01"},
		{"the master knows the number of servers", Slots{Servers: 3}, []overlay.Registration{ofNode("0-2", 0, 1)}, "0-2: 0", "0-2 node01"},
		{"ranks that are not debugged", Slots{Only: someRanks("1,3,9")}, []overlay.Registration{ofNode("3", 4, 1), ofNode("1", 4, 2)}, "1: 0; 3: 1", "1 node02, 3 node01"},
		{"a node is missing", Slots{}, []overlay.Registration{ofNode("0-3", 8, 2)}, "", "the servers of ranks 4-7 of 8 never registered: "},
		{"partial: nodes that have registered are enough", Slots{Wait: time.Millisecond, Partial: true}, []overlay.Registration{ofNode("0,2", 8, 2)},
			"0,2: 0", "0,2 node02, 1,3-7 "},
		{"two servers with one rank", Slots{}, []overlay.Registration{ofNode("0-3", 5, 2), ofNode("3-4", 5, 1), ofNode("4", 5, 3)},
			"0-3: 0; 3-4: two servers have registered for rank 3: process 2 on node02 and process 1 on node01; 4: 1", "0-3 node02, 4 node03"},
		{"a repeated registration", Slots{}, []overlay.Registration{ofNode("0-1", 3, 2), ofNode("0-1", 3, 2), ofNode("2", 3, 1)}, "0-1: 0; 2: 1", "0-1 node02, 2 node01"},
		{"a rank that is too high", Slots{}, []overlay.Registration{ofNode("0-1", 4, 2), ofNode("4", 4, 1), ofNode("2-3", 4, 3)},
			"0-1: 0; 4: rank 4 on node01: the job has only 4 ranks; 2-3: 1", "0-1 node02, 2-3 node03"},
		{"a server of one slot among servers of nodes", Slots{}, []overlay.Registration{ofNode("1", 2, 2), registrationOf(0, 2, 1), ofNode("0", 2, 3)},
			": server 0 on node01 is for one slot, the others; 0: 0; 1: 1", "0 node03, 1 node02"},
		{"an unknown number of ranks", Slots{}, []overlay.Registration{ofNode("0", 0, 2)}, "0: the master was not told how many ranks", "no server has registered"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			v := &decisions{coming: tt.coming, said: map[string]string{}}
			table, err := tt.g.Collect(context.Background(), v)
			var routes []string
			for i, r := range table.Routes {
				if int(r.Server) != i || table.Size != len(table.Routes) {
					t.Errorf("route %d: %+v", i, r)
				}
				routes = append(routes, r.Ranks.String()+" "+r.Host)
			}
			got := strings.Join(routes, ", ")
			if err != nil {
				got = err.Error()
			}
			if !strings.HasPrefix(got, tt.table) {
				t.Errorf("got %q, want %q", got, tt.table)
			}
			parts := strings.FieldsFunc(tt.said, func(r rune) bool { return r == ';' })
			for _, part := range parts {
				ranks, words, _ := strings.Cut(strings.TrimSpace(part), ": ")
				if strings.HasPrefix(strings.TrimSpace(part), ": ") {
					ranks, words = "", strings.TrimSpace(part)[2:]
				}
				if !strings.HasPrefix(v.said[ranks], words) {
					t.Errorf("%q was told %q, want %q", ranks, v.said[ranks], words)
				}
			}
			if len(parts) != len(v.said) {
				t.Errorf("told: %q", v.said)
			}
		})
	}
}

// Servers that wait for their numbers do not register again when a collection has failed; the next
// one takes them over.
func TestNodeSlotsAgain(t *testing.T) {
	v := &decisions{coming: []overlay.Registration{ofNode("4-7", 8, 1)}, said: map[string]string{}}
	g := Slots{Earlier: &Registered{}}
	for range 2 { // none registers the second time either
		if _, err := g.Collect(context.Background(), v); err == nil || !strings.HasPrefix(err.Error(), "the servers of ranks 0-3 of 8 never registered: ") {
			t.Fatalf("error: %v", err)
		}
	}
	if len(v.said) != 0 {
		t.Errorf("told: %q", v.said)
	}
	v.coming = []overlay.Registration{ofNode("0-3", 8, 2)}
	table, err := g.Collect(context.Background(), v)
	if err != nil || table.Size != 2 || table.Routes[0].Host != "node02" || table.Routes[1].Host != "node01" {
		t.Errorf("%+v, %v", table, err)
	}
	if v.said["0-3"] != "0" || v.said["4-7"] != "1" {
		t.Errorf("told: %q", v.said)
	}
}

// The next collection is for fewer ranks; it refuses a server of ranks beyond them.
func TestNodeSlotsCorrected(t *testing.T) {
	v := &decisions{coming: []overlay.Registration{ofNode("4-7", 0, 1), ofNode("0-3", 0, 2)}, said: map[string]string{}}
	come := &Registered{}
	if _, err := (Slots{Servers: 16, Earlier: come}).Collect(context.Background(), v); err == nil {
		t.Fatal("16 ranks of 8")
	}
	table, err := Slots{Servers: 4, Earlier: come}.Collect(context.Background(), v)
	if err != nil || table.Size != 1 || table.Routes[0].Host != "node02" {
		t.Errorf("%+v, %v", table, err)
	}
	if v.said["0-3"] != "0" || !strings.HasPrefix(v.said["4-7"], "ranks 4-7 on node01: the job has only 4 ranks") {
		t.Errorf("told: %q", v.said)
	}
}
