// Slow servers and hang-ups at each step of a greeting, in virtual time.

package overlay

import (
	"context"
	"errors"
	"fmt"
	"syscall"
	"testing"
	"testing/synctest"
	"time"
)

// after waits for d, or until ctx ends.
func after(ctx context.Context, d time.Duration) error {
	if !sleep(ctx, d) {
		return ctx.Err()
	}
	return nil
}

// A server that proves the secret and then answers slowly is awaited; one that is
// slow to prove it gets more time in each round.
func TestSearchIsPatient(t *testing.T) {
	for _, c := range []struct {
		name            string
		connects, greet time.Duration
		within          time.Duration
	}{
		{"at once", 0, 0, 0},
		{"slow to connect", 3 * time.Second, 0, 10 * time.Second},
		{"slow to greet", 0, 4 * time.Second, 4 * time.Second},
		{"slow at both", 900 * time.Millisecond, 4900 * time.Millisecond, 6 * time.Second},
		{"very slow to greet", 0, 35 * time.Second, 80 * time.Second},
	} {
		t.Run(c.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				began := time.Now()
				want := &stream{}
				s, err := search(t.Context(), []string{"node1:7000"}, 1,
					func(ctx context.Context, _ string) (*stream, error) { return want, after(ctx, c.connects) },
					func(ctx context.Context, _ *stream) error { return after(ctx, c.greet) })
				if took := time.Since(began); s != want || err != nil || took > c.within {
					t.Errorf("%v, %v after %v, want within %v", s, err, took, c.within)
				}
			})
		})
	}
}

// A server that closes the connection, at whatever step, is dialled again.
func TestSearchAfterHangUps(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		want, tries := &stream{}, 0
		s, err := search(t.Context(), []string{"node1:7000"}, 1,
			func(context.Context, string) (*stream, error) {
				if tries++; tries <= 3 {
					return nil, fmt.Errorf("%w: hung up", ErrSecret)
				}
				return want, nil
			},
			func(context.Context, *stream) error {
				if tries <= 6 {
					return errors.New("hung up in the greeting")
				}
				return nil
			})
		if s != want || err != nil || tries != 7 {
			t.Errorf("%v, %v after %d tries", s, err, tries)
		}
	})
}

// The closed port of a server that has listened before means that it has ended:
// Dial gives up early.
func TestDialGivesUpOnAnEndedServer(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		began := time.Now()
		ctx, cancel := context.WithTimeout(withDialOptions(t.Context(), dialOptions{listened: true}), time.Hour)
		defer cancel()
		_, err := search(ctx, []string{"node1:7000"}, 1,
			func(context.Context, string) (*stream, error) { return nil, syscall.ECONNREFUSED }, nil)
		if took := time.Since(began); !errors.Is(err, errClosed) || took > 100*time.Millisecond {
			t.Errorf("%v after %v", err, took)
		}
	})
}
