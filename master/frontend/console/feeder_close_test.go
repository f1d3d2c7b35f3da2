package console

import (
	"io"
	"testing"
	"testing/synctest"
	"time"
)

// endless is an input whose Read does not end when it is closed.
type endless struct{ over chan struct{} }

func (e endless) Read([]byte) (int, error) { <-e.over; return 0, io.EOF }
func (endless) Close() error               { return nil }

// A Read that does not end does not keep the console from ending.
func TestFeederOfAnEndlessRead(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		e := endless{make(chan struct{})}
		f := newFeeder(e)
		began := time.Now()
		f.close()
		if took := time.Since(began); took > 10*time.Second {
			t.Errorf("it took %v", took)
		}
		close(e.over)
		<-f.done
	})
}
