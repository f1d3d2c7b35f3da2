// Helpers of all tests.

package overlay

import (
	"context"
	"os"
	"testing"
	"time"

	"go.uber.org/goleak"
)

func TestMain(m *testing.M) {
	if kind := os.Getenv(peerVariable); kind != "" {
		runPeer(kind)
		return
	}
	goleak.VerifyTestMain(m)
}

// testTimeout is the time limit of all waits in tests; correct code does not reach it.
const testTimeout = 60 * time.Second

func testContext(t testing.TB) context.Context {
	t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), testTimeout)
	t.Cleanup(cancel)
	return ctx
}

// await receives a value from c.
func await[T any](t testing.TB, what string, c <-chan T) T {
	t.Helper()
	alarm := time.NewTimer(testTimeout)
	defer alarm.Stop()
	select {
	case v := <-c:
		return v
	case <-alarm.C:
		t.Fatalf("%s has not come", what)
		panic("unreachable")
	}
}

// async calls f on a goroutine and returns its result.
func async[T any](f func() T) <-chan T {
	c := make(chan T, 1)
	go func() { c <- f() }()
	return c
}
