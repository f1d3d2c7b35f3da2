package ptp

import (
	"fmt"
	"slices"
	"testing"
	"testing/synctest"
	"time"

	"sdm/master/session"
	"sdm/master/session/sessiontest"
	"sdm/protocol"
	"sdm/protocol/ptp"
	"sdm/protocol/rank"
)

// whatis is the answer of some ranks to whatis.
func whatis(id protocol.RequestID, ranks rank.Set, name string) session.Event {
	return session.Event{Name: "reply", ID: id, Late: id != 0, Group: protocol.Group{Kind: protocol.KindResult, Ranks: ranks, Body: fmt.Appendf(nil, `{"text":"type = %s"}`, name)}}
}

func without(ranks rank.Set) session.Event {
	return session.Event{Name: "missing", Group: protocol.Group{Kind: protocol.KindMissing, Ranks: ranks, Body: []byte(`{"cause":"no answer for 500ms"}`)}}
}

// A rank that does not answer holds back neither the answers of others nor those to later commands, and
// what it says later is its answer, in order.
func TestLateAnswers(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		others, two := rank.Of(0, 1, 3), rank.Of(2)
		const first = 2 // number of the first call after launch
		s := started(t,
			sessiontest.Scene{Events: []session.Event{whatis(0, others, "int"), without(two)}},
			sessiontest.Scene{Events: []session.Event{whatis(0, others, "char"), without(two)}},
			sessiontest.Scene{Events: []session.Event{whatis(0, others, "long"), without(two), whatis(first+1, two, "char"), whatis(first, two, "int")}},
		)
		begin := time.Now()
		s.send(ptp.GetType, "4:0f", "i")
		s.hears(`107 0 ["4:0b" "int"]`)
		s.send(ptp.GetType, "4:0f", "c")
		s.hears(`107 0 ["4:0b" "char"]`)
		if waited := time.Since(begin); waited > quickWait {
			t.Errorf("after %v", waited)
		}
		s.send(ptp.GetType, "4:0f", "l")
		var heard []string
		for range 3 {
			heard = append(heard, s.next().String())
		}
		at := func(p string) int { return slices.Index(heard, p) }
		if i, c := at(`107 0 ["4:04" "int"]`), at(`107 0 ["4:04" "char"]`); i < 0 || c < i || at(`107 0 ["4:0b" "long"]`) < 0 {
			t.Errorf("heard %q", heard)
		}
		s.hears(`112 0 ["4:04" "37" "GET TYPE: no answer: no answer in 10.5s"]`)
		if waited := time.Since(begin); waited > lateWait+quickWait {
			t.Errorf("the last one after %v", waited)
		}
		s.send(ptp.Quit)
		s.ends(nil)
	})
}

// What a rank is told to have done, and answers to later commands that come at once, wait for the answer
// that it owes; other ranks' do not.
func TestPendingAnswers(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		others, two := rank.Of(0, 1, 3), rank.Of(2)
		all := others.Union(two)
		frame := session.Event{Name: "reply", Group: protocol.Group{Kind: protocol.KindResult, Ranks: all, Body: []byte("{}")}}
		const first = 2 // number of the first call after launch
		end := session.Event{Name: "exited", Group: protocol.Group{Kind: protocol.KindExited, Ranks: two, Body: []byte(`{"code":3}`)}}
		s := started(t,
			sessiontest.Scene{Events: []session.Event{whatis(0, others, "int"), without(two)}},
			sessiontest.Scene{Events: []session.Event{whatis(0, all, "char")}},
			sessiontest.Scene{Events: []session.Event{frame, end, whatis(first, two, "int")}},
		)
		s.send(ptp.GetType, "4:0f", "i")
		s.hears(`107 0 ["4:0b" "int"]`)
		s.send(ptp.GetType, "4:0f", "c")
		s.hears(`107 0 ["4:0b" "char"]`)
		s.send(ptp.DeleteBreak, "4:04", "1") // there is none, which rank 2 is told in turn
		s.send(ptp.SetFrame, "4:0b", "0")    // the end and the late answer come with it
		var heard []string
		for range 5 {
			heard = append(heard, s.next().String())
		}
		last := -1
		for _, want := range []string{`107 0 ["4:04" "int"]`, `107 0 ["4:04" "char"]`, `112 0 ["4:04" "13" "DELETE BP: there is no breakpoint 1"]`, `102 0 ["4:04" "0" "3"]`} {
			at := slices.Index(heard, want)
			if at < 0 || at < last {
				t.Errorf("%s: heard %q", want, heard)
			}
			last = at
		}
		s.send(ptp.Quit)
		s.ends(nil)
	})
}

// Stops that come one after the other, as on a machine under load, are reported in few events; one that
// comes later is reported soon.
func TestStopsInBursts(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var s stops
		begin := time.Now()
		s.move(rank.Range(0, 63))
		var reported []time.Duration
		for range 40 { // every 50 ms
			s.add(rankStop{}, time.Now())
			next := time.After(50 * time.Millisecond)
			select {
			case <-s.due:
				reported = append(reported, time.Since(begin))
				s.list, s.due = nil, nil
				<-next
			case <-next:
			}
		}
		if n := len(reported); n > 4 {
			t.Errorf("%d events in %v: %v", n, time.Since(begin), reported)
		}
		<-time.After(2 * burstGap)
		s.list, s.due = nil, nil
		begin = time.Now()
		s.add(rankStop{}, begin)
		if <-s.due; time.Since(begin) != stopHold {
			t.Errorf("after %v", time.Since(begin))
		}
	})
}

// A stop or an end that is told between a command and its answer would be the answer for Eclipse: both wait
// for it. A stop that a GO overtakes is not told at all, and an end not after an OK to TERMINATE.
func TestStopsWaitForAnswers(t *testing.T) {
	zero, all := rank.Of(0), rank.Range(0, 3)
	event := func(k protocol.Kind, ranks rank.Set, body string) session.Event {
		return session.NewEvent(protocol.Group{Kind: k, Ranks: ranks, Body: []byte(body)})
	}
	reply := func(ranks rank.Set) session.Event {
		return session.Event{Name: "reply", Group: protocol.Group{Kind: protocol.KindResult, Ranks: ranks, Body: []byte("{}")}}
	}
	scene := func(events ...session.Event) sessiontest.Scene { return sessiontest.Scene{Events: events} }
	stopped := event(protocol.KindStopped, zero, `{"reason":"end-stepping-range"}`)
	ended := event(protocol.KindExited, zero, `{"code":3}`)
	running := event(protocol.KindRunning, all, "{}")
	const suspend = `113 0 ["4:01" "2" "0" "" "" "" "0" "1" "0" "0"]`
	for name, c := range map[string]struct {
		scenes []sessiontest.Scene // of GO to all ranks, and then
		send   func(*served)
		want   []string
	}{
		"question": {
			[]sessiontest.Scene{scene(running, reply(all), stopped), scene(reply(zero)), scene(whatis(0, zero, "int"))},
			func(s *served) { s.send(ptp.GetType, "4:01", "i") },
			[]string{`107 0 ["4:01" "int"]`, suspend},
		},
		"GO": {
			[]sessiontest.Scene{scene(running, reply(all), stopped), scene(reply(zero)), scene(reply(zero), ended)},
			func(s *served) { s.send(ptp.Go, "4:01") },
			[]string{`111 0 ["4:01"]`, `102 0 ["4:01" "0" "3"]`},
		},
		"refused GO": {
			[]sessiontest.Scene{scene(running, reply(all), stopped), scene(reply(zero)), scene(without(zero))},
			func(s *served) { s.send(ptp.Go, "4:01") },
			[]string{`112 0 ["4:01" "37" "GO: no answer: no answer for 500ms"]`, suspend},
		},
		"SUSPEND": {
			[]sessiontest.Scene{scene(running, reply(all), stopped), scene(reply(zero)), scene(reply(zero))},
			func(s *served) { s.send(ptp.Suspend, "4:01") },
			[]string{suspend},
		},
		"question to a rank that ends": {
			[]sessiontest.Scene{scene(running, reply(all), stopped), scene(reply(zero), ended), scene(whatis(0, zero, "int"))},
			func(s *served) { s.send(ptp.GetType, "4:01", "i") },
			[]string{`107 0 ["4:01" "int"]`, suspend, `102 0 ["4:01" "0" "3"]`},
		},
		"TERMINATE": {
			[]sessiontest.Scene{scene(running, reply(all), stopped), scene(ended, reply(zero)), scene(reply(zero))},
			func(s *served) { s.send(ptp.Terminate, "4:01") },
			[]string{`111 0 ["4:01"]`},
		},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				s := started(t, c.scenes...)
				s.send(ptp.Go, "4:0f")
				s.hears(`111 0 ["4:0f"]`)
				synctest.Wait() // the stop of rank 0 is held, for the stops of the others
				c.send(s)
				for _, want := range c.want {
					s.hears(want)
				}
				s.send(ptp.Quit)
				if p, err := s.eclipse.Next(); err == nil {
					t.Errorf("heard %v", p)
				}
				s.ends(nil)
			})
		})
	}
}
