package sentinel

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"maps"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"sdm/master/progress"
	"sdm/master/session"
	"sdm/protocol"
	"sdm/protocol/canonical"
	"sdm/protocol/column"
	"sdm/protocol/rank"
)

var all = rank.Range(0, 3)

// fake is a session whose ranks do what a script says. It is used by one goroutine and timers.
type fake struct {
	t      *testing.T
	events chan session.Event
	calls  []string
	// samples are the answers to stacks with progress: values of the column by rank set, "none@0-3 io@2"; the last is
	// repeated. "refused" refuses the call.
	samples []string
	before  func(n int) // is called before sample n is answered; may be nil
	taken   int
}

func (f *fake) Events() <-chan session.Event { return f.events }

func (f *fake) Close(context.Context) error { return nil }

func (f *fake) Do(_ context.Context, c session.Call) (protocol.RequestID, error) {
	id := protocol.RequestID(len(f.calls) + 1)
	text := c.Command
	if c.Ranks != "" {
		text = "[" + c.Ranks + "] " + text
	}
	if c.Args.Samples > 0 {
		text += fmt.Sprint(" x", c.Args.Samples)
	}
	f.calls = append(f.calls, text)
	if c.Command == "stacks" && c.Args.Samples == 0 {
		script := f.samples[min(f.taken, len(f.samples)-1)]
		if f.before != nil {
			f.before(f.taken)
		}
		f.taken++
		if script == "refused" {
			return 0, &protocol.Fault{Kind: protocol.FaultState, Message: "no ranks"}
		}
		f.answer(id, c.Command, script)
		return id, nil
	}
	f.answer(id, c.Command, "")
	return id, nil
}

func (f *fake) answer(id protocol.RequestID, command, script string) {
	g := protocol.Group{Kind: protocol.KindResult, Ranks: all, Body: []byte("{}")}
	if script != "" {
		var values []column.ValueCount
		g.Ranks = rank.Set{}
		for _, w := range strings.Fields(script) {
			value, set, _ := strings.Cut(w, "@")
			ranks, err := rank.Parse(set, rank.Env{All: all})
			if err != nil {
				f.t.Fatal(err)
			}
			g.Ranks = g.Ranks.Union(ranks)
			values = append(values, column.ValueCount{Value: value, Ranks: ranks})
		}
		slices.SortFunc(values, func(a, b column.ValueCount) int { return strings.Compare(a.Value, b.Value) })
		troubles := map[string]rank.Set{}
		for _, v := range values {
			why := ""
			if strings.Contains(v.Value, protocol.ProgressNoValue) {
				why = "why " + protocol.ProgressNoValue
			}
			troubles[why] = troubles[why].Union(v.Ranks)
		}
		var whys []column.ValueCount
		for _, why := range slices.Sorted(maps.Keys(troubles)) {
			whys = append(whys, column.ValueCount{Value: why, Ranks: troubles[why]})
		}
		g.Columns = []column.Column{column.OfValues(protocol.Progress, values, sampleLimit), column.OfValues(protocol.ProgressTrouble, whys, sampleLimit)}
	}
	if script != "silence" {
		f.events <- session.Event{Name: "reply", ID: id, Command: command, Group: g}
	}
	f.events <- session.Event{Name: session.DoneName, ID: id, Command: command, Done: &session.Done{}}
}

// ends makes ranks end.
func (f *fake) ends(set string, exit protocol.Exit) {
	ranks, _ := rank.Parse(set, rank.Env{All: all})
	kind := protocol.KindExited
	if exit.Signal != "" {
		kind = protocol.KindSignalled
	}
	f.events <- session.NewEvent(protocol.Group{Kind: kind, Ranks: ranks, Body: canonical.JSON(exit)})
}

// watch runs the front end over the session for at most a time, with stalls of 40 s.
func (f *fake) watch(limit time.Duration, change func(*Config)) (found *Result, stalls []string, err error) {
	f.events = make(chan session.Event, 1000)
	f.events <- session.NewEvent(protocol.Group{Kind: protocol.KindWatched, Ranks: all, Body: []byte("{}")})
	ctx, cancel := context.WithTimeout(f.t.Context(), limit)
	defer cancel()
	began := time.Now()
	cfg := Config{
		Session: f, Ranks: all, First: &session.Call{Command: "attach"}, Judge: progress.Config{Stall: 40 * time.Second},
		Stalled: func(_ context.Context, s *Sight) {
			stalls = append(stalls, fmt.Sprintf("%v: without %v, last %v", time.Since(began), s.Without, s.Last))
		},
		Remark: func(said string) { stalls = append(stalls, said) },
		Log:    slog.New(slog.DiscardHandler),
	}
	if change != nil {
		change(&cfg)
	}
	found, err = Run(ctx, cfg)
	return found, stalls, err
}

func TestStalls(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := &fake{t: t, samples: []string{"first@0-3", "stack@1 none@0,2-3", "none@0-3"}}
		found, stalls, err := f.watch(200*time.Second, nil)
		if want := []string{"53s: without 43s, last stack of 1"}; !slices.Equal(stalls, want) || !errors.Is(err, context.DeadlineExceeded) {
			t.Errorf("stalls %q, %v, want %q", stalls, err, want)
		}
		if !found.Stalled || found.Sight == nil || !found.Alive.Equal(all) {
			t.Errorf("%+v", found)
		}
		if want := []string{"attach", "info hosts", "stacks"}; !slices.Equal(f.calls[:3], want) || !slices.Contains(f.calls, "stacks x4") {
			t.Errorf("calls %q", f.calls)
		}
	})
}

// Output is progress, but not what was written because of a stall.
func TestOutput(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := &fake{t: t, samples: []string{"first@0-3", "none@0-3"}}
		var size int64
		f.before = func(n int) {
			if n < 6 {
				size += 10
			}
		}
		_, stalls, _ := f.watch(300*time.Second, func(c *Config) {
			c.Output = func() int64 { return size }
			say := c.Stalled
			c.Stalled = func(ctx context.Context, s *Sight) { say(ctx, s); size += 100 }
		})
		if want := []string{"1m33s: without 43s, last output"}; !slices.Equal(stalls, want) {
			t.Errorf("stalls %q, want %q", stalls, want)
		}
	})
}

// The ranks of a job that has stalled are ended, and seem to go on meanwhile; or the stall has ended before.
func TestEnd(t *testing.T) {
	for name, c := range map[string]struct {
		samples []string
		stalled bool
	}{
		"after a stall": {[]string{"first@0-3", "none@0-3", "none@0-3", "none@0-3", "none@0-3", "none@0-3", "none@0-3", "none@0-3", "stack@0-2"}, true},
		"without one":   {[]string{"first@0-3", "none@0-3", "stack@0-3"}, false},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				f := &fake{t: t, samples: c.samples}
				f.before = func(n int) {
					switch n {
					case 8:
						f.ends("3", protocol.Exit{Code: 2})
					case 9:
						f.ends("0-2", protocol.Exit{Signal: "SIGTERM"})
					}
				}
				found, _, err := f.watch(300*time.Second, nil)
				if err != nil || found.Stalled != c.stalled || !found.Alive.IsEmpty() || len(found.Ends) != 2 {
					t.Errorf("%v, %+v", err, found)
				}
				if last := f.calls[len(f.calls)-1]; last != "[0-2] stacks" {
					t.Errorf("the last call is %q", last)
				}
			})
		})
	}
}

// TestTroubles has expressions without a value in all ranks, or in some, which the user is told once.
func TestTroubles(t *testing.T) {
	for _, c := range []struct {
		samples []string
		want    []string
	}{
		{[]string{"first,novalue@0-3", "stack,novalue@0-3"},
			[]string{"--progress p->n cannot be read on any rank: why novalue; until a rank can read it, progress is judged without it"}},
		{[]string{"first@0-2 first,novalue@3", "value@0-2 novalue@3"},
			[]string{"--progress p->n cannot be read on ranks 3: why novalue; progress is judged by the other ranks"}},
		{[]string{"first@0-3", "value@0-3"}, nil},
	} {
		synctest.Test(t, func(t *testing.T) {
			f := &fake{t: t, samples: c.samples}
			_, said, _ := f.watch(100*time.Second, func(c *Config) { c.Judge.Value, c.Value = true, "p->n" })
			if !slices.Equal(said, c.want) {
				t.Errorf("%q: said %q", c.samples, said)
			}
		})
	}
}

// Processes that are not the ranks any more have not stalled, nor do they make progress: they may be wrappers,
// whose children are the ranks.
func TestOutdated(t *testing.T) {
	for _, later := range []string{"none@0-3", "stack,children@2 none@0-1,3"} {
		synctest.Test(t, func(t *testing.T) {
			f := &fake{t: t, samples: []string{"first@0-3", later}}
			began := time.Now()
			found, stalls, err := f.watch(300*time.Second, func(c *Config) { c.Current = func() bool { return false } })
			if took := time.Since(began); err != nil || len(stalls) != 0 || found.Stalled || took > 200*time.Second {
				t.Errorf("%s: %v, %q, %+v after %v", later, err, stalls, found, took)
			}
		})
	}
}

// A session that ends, ranks that cannot be watched, and calls that are refused.
func TestEndOfTheSession(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := &fake{t: t, samples: []string{"first@0-3", "refused"}}
		f.before = func(n int) {
			if n == 3 {
				close(f.events)
			}
		}
		found, stalls, err := f.watch(500*time.Second, nil)
		if err != nil || len(stalls) != 0 || !found.Alive.Equal(all) {
			t.Errorf("%v, %q, %+v", err, stalls, found)
		}
	})
	synctest.Test(t, func(t *testing.T) {
		f := &fake{t: t, samples: []string{"silence"}}
		_, _, err := f.watch(time.Second, func(c *Config) { c.Ranks = rank.Range(4, 5) })
		if !errors.Is(err, ErrNoRank) {
			t.Errorf("%v", err)
		}
	})
}
