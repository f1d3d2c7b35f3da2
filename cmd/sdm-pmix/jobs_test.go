// Jobs that a PRRTE server starts, and those that are refused.

package main

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"sdm/launch/pmix"
)

// TestDirect starts an MPI job whose ranks wait in MPI_Init, a daemon with input on its node,
// releases the ranks, and observes the ends of both jobs.
func TestDirect(t *testing.T) {
	inRoots(t, func(t *testing.T, dir string) {
		ctx := inTime(t)
		d, output := direct(t, dir, pmix.DirectSpec{Apps: ranks(3, filepath.Join(dir, "mpihello")), Directives: spread})
		table, err := d.Acquire(ctx, func(text string) { t.Log(text) })
		if err != nil {
			t.Fatal(err)
		}
		wantRanks(t, table, 3)
		if strings.Contains(output(), "rank") {
			t.Errorf("the ranks have passed MPI_Init: %q", output())
		}
		for _, key := range []pmix.Key{pmix.QuerySpawnSupport, pmix.QueryDebugSupport} {
			if d.Claims()[key] == "" {
				t.Errorf("no answer to %s", key)
			}
		}
		file := filepath.Join(dir, "input"+filepath.Base(t.Name())+fmt.Sprint(time.Now().UnixNano()))
		input := bytes.Repeat([]byte("0123456789abcde\n"), 600) // more than one push
		if err := d.StartDaemons(ctx, []string{"/bin/sh", "-c", "cat >" + file + ".part && mv " + file + ".part " + file}, input, []string{table[0].Host}); err != nil {
			t.Fatal(err)
		}
		if err := d.Release(); err != nil {
			t.Fatal(err)
		}
		endings, err := d.Ended(ctx)
		if err != nil || len(endings) != 2 || endings[0].Code != 0 || endings[1].Code != 0 || !endings[1].Daemons {
			t.Errorf("endings %+v, %v", endings, err)
		}
		if err := d.End(ctx); err != nil {
			t.Error(err)
		}
		if got, err := os.ReadFile(file); err != nil || !bytes.Equal(got, input) {
			t.Errorf("the daemon has read %d of %d bytes, %v", len(got), len(input), err)
		}
		if n := strings.Count(output(), "of 3"); n != 3 {
			t.Errorf("%d ranks have written: %q", n, output())
		}
	})
}

// TestReleaseOfSingleRanks releases one rank after the other; one of them twice.
func TestReleaseOfSingleRanks(t *testing.T) {
	inRoots(t, func(t *testing.T, dir string) {
		d, _, output := acquired(t, dir, 2)
		for _, r := range []uint32{1, 1, 0} {
			if err := d.ReleaseRank(r); err != nil {
				t.Fatal(err)
			}
			if r == 1 && strings.Contains(output(), "hello") {
				t.Error("rank 0 has passed MPI_Init")
			}
		}
		if code := ended(t, d); code != 0 || strings.Count(output(), "of 2") != 2 {
			t.Errorf("exit code %d: %q", code, output())
		}
	})
}

// TestRefusals checks what is refused before or by a spawn, and that the server lives on.
func TestRefusals(t *testing.T) {
	inRoots(t, func(t *testing.T, dir string) {
		hello := filepath.Join(dir, "mpihello")
		crowded := pmix.Directives{MapBy: "slot:oversubscribe"} // a refused spawn may hold slots for a moment
		for name, c := range map[string]struct {
			spec pmix.DirectSpec
			want string
		}{
			"plain program": {pmix.DirectSpec{Apps: ranks(2, filepath.Join(dir, "exitcode"), "3"), Directives: crowded}, "has ended with status 3 before all its ranks came to MPI_Init"},
			"no program":    {pmix.DirectSpec{Apps: ranks(1, "/nowhere/app")}, "is /nowhere/app there"},
			"no slots":      {pmix.DirectSpec{Apps: ranks(100, hello)}, "too few slots"},
			"no host":       {pmix.DirectSpec{Apps: ranks(1, hello), Directives: pmix.Directives{Hosts: "nowhere"}}, "host nowhere: the server does not have it; it has "},
			"wrong word":    {pmix.DirectSpec{Apps: ranks(1, hello), Directives: pmix.Directives{MapBy: "moon"}}, `map by "moon"`},
			"allocation":    {pmix.DirectSpec{Apps: ranks(1, hello), Directives: pmix.Directives{AllocNodes: 2}}, "--alloc-nodes"},
			"no server":     {pmix.DirectSpec{Apps: ranks(1, hello), ServerSpec: pmix.ServerSpec{Target: pmix.Target{PID: 1}}}, "with process id 1"},
		} {
			d, _ := direct(t, dir, c.spec)
			_, err := d.Acquire(inTime(t), func(text string) { t.Log(text) })
			if err == nil || !strings.Contains(err.Error(), c.want) {
				t.Errorf("%s: %v, want %q", name, err, c.want)
			}
			if err := d.End(inTime(t)); err != nil {
				t.Errorf("%s: %v", name, err)
			}
		}
		d, _ := direct(t, dir, pmix.DirectSpec{Apps: ranks(2, hello), Directives: crowded})
		if _, err := d.Acquire(inTime(t), func(text string) { t.Log(text) }); err != nil {
			t.Fatal(err)
		}
		d.Release()
		if code := ended(t, d); code != 0 {
			t.Errorf("exit code %d", code)
		}
	})
}

// TestStopOnExec holds a plain program before its first instruction where the server can, and is
// refused where it cannot.
func TestStopOnExec(t *testing.T) {
	inRoots(t, func(t *testing.T, dir string) {
		d, _ := direct(t, dir, pmix.DirectSpec{Apps: ranks(3, filepath.Join(dir, "exitcode"), "3"), Stop: pmix.OnExec, Directives: spread})
		table, err := d.Acquire(inTime(t), func(text string) { t.Log(text) })
		var refusal *pmix.Refusal
		if errors.As(err, &refusal) && d.Server().Version.Major == 5 {
			d.End(inTime(t))
			return
		}
		if err != nil || len(table) != 3 {
			t.Fatal(table, err)
		}
		for _, p := range table {
			if isWaiting(t, p.PID) {
				t.Errorf("rank %d is not stopped", p.Rank)
			}
		}
		if err := d.Release(); err != nil {
			t.Error(err)
		}
		if code := ended(t, d); code != 3 {
			t.Errorf("exit code %d", code)
		}
	})
}

// TestUnset removes a variable that the server has, also where the server would leave it.
func TestUnset(t *testing.T) {
	inRoots(t, func(t *testing.T, dir string) {
		apps := ranks(1, filepath.Join(dir, "mpihello"))
		apps[0].Info = []pmix.Info{pmix.String(pmix.UnsetEnvar, "PRTE_ALLOW_RUN_AS_ROOT")}
		d, _ := direct(t, dir, pmix.DirectSpec{Apps: apps})
		table, err := d.Acquire(inTime(t), func(text string) { t.Log(text) })
		if err != nil {
			t.Fatal(err)
		}
		env, err := os.ReadFile(fmt.Sprintf("/proc/%d/environ", table[0].PID))
		if err != nil || bytes.Contains(env, []byte("\x00PRTE_ALLOW_RUN_AS_ROOT=")) || len(env) == 0 {
			t.Errorf("%q, %v", env, err)
		}
		if err := d.End(inTime(t)); err != nil {
			t.Error(err)
		}
	})
}
