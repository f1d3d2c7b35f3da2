package registration

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"sdm/master/session"
	"sdm/protocol"
	"sdm/tree/overlay"
)

// someNodes are two nodes of two ranks each, and a third of one.
func someNodes() []protocol.Node {
	return protocol.Proctable{
		{Rank: 0, Host: "a", PID: 1}, {Rank: 1, Host: "a", PID: 2}, {Rank: 2, Host: "b.x.org", PID: 3},
		{Rank: 3, Host: "b.x.org", PID: 4}, {Rank: 4, Host: "10.0.0.3", PID: 5},
	}.Nodes()
}

// rendezvous returns the registrations of a test one by one, then waits.
type rendezvous struct {
	coming chan overlay.Registration
	said   chan string
}

func (r *rendezvous) Accept(ctx context.Context) (overlay.Registration, func(overlay.Decision), error) {
	select {
	case one := <-r.coming:
		return one, func(v overlay.Decision) {
			word := v.Refusal
			if word == "" {
				word = fmt.Sprintf("%s is %d", one.Host, v.Server)
				if !v.Renumber {
					word = "without a number"
				}
			}
			r.said <- word
		}, nil
	case <-ctx.Done():
		return overlay.Registration{}, nil, context.Cause(ctx)
	}
}

func from(server int, host string) overlay.Registration {
	return overlay.Registration{Server: protocol.ServerID(server), Host: host, PID: 100 + server, Addrs: []string{fmt.Sprintf("10.0.0.%d:7", server+1)}}
}

func TestPerNode(t *testing.T) {
	bad := func(nodes ...int) func(int) error {
		return func(i int) error {
			for _, n := range nodes {
				if n == i {
					return errors.New("no route to host")
				}
			}
			return nil
		}
	}
	for _, tt := range []struct {
		name    string
		collect PerNode
		coming  []overlay.Registration
		table   string // server:host:ranks, or part of the error
		absent  string
		said    string
	}{
		{"all", PerNode{}, []overlay.Registration{from(2, "c"), from(0, "a"), from(1, "b")},
			"0:a:0-1 1:b.x.org:2-3 2:10.0.0.3:4", "", "a is 0; b is 1; c is 2"},
		{"one server cannot be started", PerNode{Failed: bad(0)}, []overlay.Registration{from(2, "c"), from(1, "b")},
			"0:b.x.org:2-3 1:10.0.0.3:4", "server on a: no route to host", "b is 0; c is 1"},
		{"two servers fail for one reason", PerNode{Failed: bad(0, 2)}, []overlay.Registration{from(1, "b")},
			"0:b.x.org:2-3", "server on a,10.0.0.3: no route to host", "b is 0"},
		{"one server does not register", PerNode{Wait: 20 * time.Second}, []overlay.Registration{from(2, "c"), from(0, "a")},
			"0:a:0-1 1:10.0.0.3:4", "server on b.x.org: the server has not registered in 20s (of --connect-wait, which gdbs have a part of)", "a is 0; c is 1"},
		{"no server can be started", PerNode{Failed: bad(0, 1, 2)}, nil, "no server has registered: server on a,b.x.org,10.0.0.3: no route to host", "", ""},
		{"no server registers", PerNode{Wait: time.Second}, nil, "no server has registered: server on a,b.x.org,10.0.0.3: the server has not registered in 1s", "", ""},
		{"servers are matched by host, not by number", PerNode{ByHost: true}, []overlay.Registration{from(0, "b"), from(2, "node3"), from(1, "a.y.org")},
			"0:a:0-1 1:b.x.org:2-3 2:10.0.0.3:4", "", "a.y.org is 0; b is 1; node3 is 2"},
		{"a server on a host without ranks", PerNode{ByHost: true}, []overlay.Registration{from(4, "z"), from(0, "a"), from(1, "b")},
			"0:a:0-1 1:b.x.org:2-3", "server on 10.0.0.3: the starter has put its server on z, where its table has no ranks (--remote-shell CMD or --start-tool CMD starts them otherwise)",
			"the job has no ranks on z; a is 0; b is 1"},
		{"registrations that are repeated, duplicate and beyond the last", PerNode{Failed: bad(1)},
			[]overlay.Registration{from(0, "a"), from(0, "a"), {Server: 0, Host: "a", PID: 1, Addrs: []string{"x:1"}}, from(3, "d"), from(2, "c")},
			"0:a:0-1 1:10.0.0.3:4", "server on b.x.org: no route to host",
			"two processes have registered as server 0: process 100 on a and process 1 on a; server 3 on d is beyond the 3 that are awaited; a is 0; c is 1"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				l := &rendezvous{coming: make(chan overlay.Registration, len(tt.coming)), said: make(chan string, len(tt.coming))}
				for _, r := range tt.coming {
					l.coming <- r
				}
				tt.collect.Nodes = someNodes()
				table, absent, err := tt.collect.Collect(context.Background(), l)
				var got []string
				for _, r := range table.Routes {
					got = append(got, fmt.Sprintf("%d:%s:%s", r.Server, r.Host, r.Ranks))
				}
				if err != nil {
					got = []string{err.Error()}
				}
				if text := strings.Join(got, " "); !strings.Contains(text, tt.table) || err == nil && text != tt.table {
					t.Errorf("table %q, want %q", text, tt.table)
				}
				if err == nil && texts(absent) != tt.absent {
					t.Errorf("absent %q, want %q", texts(absent), tt.absent)
				}
				close(l.said)
				var said []string
				for word := range l.said {
					said = append(said, word)
				}
				if text := strings.Join(said, "; "); text != tt.said {
					t.Errorf("said %q, want %q", text, tt.said)
				}
			})
		})
	}
}

func texts(absent []session.Absent) string {
	var all []string
	for _, a := range session.ByCause(absent) {
		all = append(all, a.String())
	}
	return strings.Join(all, "; ")
}

// TestPerNodeIsTold reports failures, overdue servers, and their end to a Roll.
func TestPerNodeIsTold(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l := &rendezvous{coming: make(chan overlay.Registration, 9), said: make(chan string, 9)}
		changed, failed := make(chan struct{}, 1), map[int]error{}
		var late []string
		collect := PerNode{
			Nodes: someNodes(), Changed: changed, OverdueAfter: 5 * time.Second,
			Failed: func(i int) error { return failed[i] },
			Overdue: func(nodes []protocol.Node, after time.Duration) {
				late = append(late, fmt.Sprintf("%d after %v", len(nodes), after))
				switch len(late) {
				case 1:
					l.coming <- from(1, "b")
				case 2:
					failed[0] = errors.New("refused")
					changed <- struct{}{}
				case 3:
					failed[1], failed[2] = errors.New("too late to fail"), errors.New("refused")
					close(changed)
				}
			},
		}
		table, absent, err := collect.Collect(context.Background(), l)
		if err != nil || table.Size != 1 || texts(absent) != "server on a,10.0.0.3: refused" {
			t.Errorf("%v, %s, %v", table, texts(absent), err)
		}
		if got := strings.Join(late, ", "); got != "3 after 5s, 2 after 10s, 1 after 15s" {
			t.Errorf("late: %s", got)
		}
		ctx, cancel := context.WithCancelCause(context.Background())
		cancel(errors.New("Ctrl-C"))
		if _, _, err := (PerNode{Nodes: someNodes()}).Collect(ctx, l); err == nil || err.Error() != "Ctrl-C" {
			t.Errorf("cancelled: %v", err)
		}
	})
}
