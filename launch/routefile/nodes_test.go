package routefile

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"testing/synctest"
	"time"
)

func TestPerNode(t *testing.T) {
	table, err := Parse(strings.NewReader("5\n0 a 100\n1 b 200\n2 a 300\n3 c 400\n4 b 500\n"))
	if err != nil {
		t.Fatal(err)
	}
	nodes := PerNode(table)
	var got []string
	for i, r := range nodes.Routes {
		if int(r.Server) != i {
			t.Errorf("server %d is route %d", r.Server, i)
		}
		got = append(got, r.Addrs[0]+" "+r.Ranks.String())
	}
	if want := "a:100 0,2; b:200 1,4; c:400 3"; nodes.Size != 3 || strings.Join(got, "; ") != want {
		t.Errorf("size %d, %q, want %q", nodes.Size, got, want)
	}
	if r, ok := RouteOf(nodes, 4); !ok || r.Server != 1 {
		t.Errorf("rank 4 is at %v, %v", r, ok)
	}
	if _, ok := RouteOf(nodes, 5); ok {
		t.Error("there is a server of rank 5")
	}
}

func TestAwait(t *testing.T) {
	path := filepath.Join(t.TempDir(), "routes")
	synctest.Test(t, func(t *testing.T) { // the wait does not end while the file is being opened
		if _, err := Await(t.Context(), path, time.Second); !errors.Is(err, os.ErrNotExist) {
			t.Errorf("without a file: %v", err)
		}
	})
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := Await(ctx, path, 0); !errors.Is(err, context.Canceled) {
		t.Errorf("cancelled: %v", err)
	}
	write := func(text string) {
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Error(err)
		}
	}
	write("2\n0 a 1\n")
	done := make(chan error, 1)
	go func() {
		table, err := Await(t.Context(), path, 0)
		if err == nil && table.Routes[1].Addrs[0] != "a:234" {
			err = errors.New("not the whole file")
		}
		done <- err
	}()
	write("2\n0 a 1\n1 a 2")
	write("2\n0 a 1\n1 a 234\n")
	if err := <-done; err != nil {
		t.Error(err)
	}
}

// A file whose last line does not end is read when it stays so.
func TestAwaitWithoutEnd(t *testing.T) {
	path := filepath.Join(t.TempDir(), "routes")
	if err := os.WriteFile(path, []byte("1\n0 a 1"), 0o600); err != nil {
		t.Fatal(err)
	}
	begin := time.Now()
	if table, err := Await(t.Context(), path, time.Minute); err != nil || table.Size != 1 || time.Since(begin) < unendedPause {
		t.Errorf("%v, %v, after %v", table, err, time.Since(begin))
	}
}
