package session

import (
	"context"
	"errors"
	"testing"
	"testing/synctest"
	"time"

	"sdm/protocol"
)

func numbered(n int) Event { return Event{Name: DoneName, ID: protocol.RequestID(n), Done: &Done{}} }

func TestStreamKeepsOrderAndLosesNothing(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := NewStream()
		go func() {
			for i := range 5000 {
				s.Push(numbered(i))
			}
			s.End(context.Background())
		}()
		next := 0
		for e := range s.Events() {
			if int(e.ID) != next {
				t.Fatalf("event %d came as number %d", e.ID, next)
			}
			next++
		}
		if next != 5000 {
			t.Errorf("%d events came", next)
		}
	})
}

func TestStreamRoomWaitsForTheConsumer(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := NewStream()
		for i := range 2 * streamEvents {
			s.Push(numbered(i))
		}
		passed := make(chan error, 1)
		synctest.Wait() // the goroutine has one batch; the next remains queued
		for i := range 2 * streamEvents {
			s.Push(numbered(i))
		}
		go func() { passed <- s.Room(context.Background()) }()
		synctest.Wait()
		if len(passed) != 0 {
			t.Fatal("Room did not wait")
		}
		go func() {
			for range s.Events() {
			}
		}()
		if err := <-passed; err != nil {
			t.Error(err)
		}
		s.End(context.Background())
	})
}

func TestStreamRoomEnds(t *testing.T) {
	full := func() *Stream {
		s := NewStream()
		s.Push(numbered(0))
		for range 2 {
			synctest.Wait()
			for i := range 2 * streamEvents {
				s.Push(numbered(i))
			}
		}
		return s
	}
	for name, end := range map[string]func(*Stream, context.CancelFunc){
		"with its context": func(_ *Stream, cancel context.CancelFunc) { cancel() },
		"when lifted":      func(s *Stream, _ context.CancelFunc) { s.Lift() },
		"with the stream":  func(s *Stream, _ context.CancelFunc) { s.End(context.Background()) },
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				s := full()
				ctx, cancel := context.WithCancel(context.Background())
				defer cancel()
				passed := make(chan error, 1)
				go func() { passed <- s.Room(ctx) }()
				synctest.Wait()
				if len(passed) != 0 {
					t.Fatal("Room did not wait")
				}
				end(s, cancel)
				err := <-passed
				if ctx.Err() != nil && !errors.Is(err, context.Canceled) || ctx.Err() == nil && err != nil {
					t.Errorf("error %v", err)
				}
				s.End(context.Background())
			})
		})
	}
}

func TestStreamEndGivesUpOnAConsumerThatIsGone(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := NewStream()
		for i := range 200 {
			s.Push(numbered(i))
		}
		began := time.Now()
		s.End(context.Background())
		if took := time.Since(began); took != streamGrace {
			t.Errorf("it took %v", took)
		}
		s.Push(numbered(1)) // after the end, without a panic
	})
}

func TestStreamEndIsBoundByItsContext(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := NewStream()
		for i := range 200 {
			s.Push(numbered(i))
		}
		ctx, cancel := context.WithTimeout(context.Background(), streamGrace/5)
		defer cancel()
		began := time.Now()
		s.End(ctx)
		if took := time.Since(began); took != streamGrace/5 {
			t.Errorf("it took %v", took)
		}
	})
}
