package job

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"

	"sdm/master/frontend/console"
	"sdm/protocol"
)

func TestChosenRanks(t *testing.T) {
	table := protocol.Proctable{{Rank: 0, Host: "a", PID: 1}, {Rank: 1, Host: "a", PID: 2}, {Rank: 2, Host: "b", PID: 3}}
	for _, c := range []struct{ only, want, wrong string }{
		{only: "", want: "0-2"},
		{only: "1-2", want: "1-2"},
		{only: "!0", want: "1-2"},
		{only: "!0-2", wrong: "--ranks !0-2: the job has 0-2"},
		{only: "2-3", wrong: "--ranks: "},
	} {
		got, err := (&Spec{Only: c.only}).chosen(table)
		if c.wrong != "" {
			if err == nil || !strings.HasPrefix(err.Error(), c.wrong) {
				t.Errorf("%q: %v, want %q", c.only, err, c.wrong)
			}
			continue
		}
		if err != nil || got.Ranks().String() != c.want {
			t.Errorf("%q: %s, %v, want %s", c.only, got.Ranks(), err, c.want)
		}
	}
}

func TestInAllocation(t *testing.T) {
	for env, want := range map[string]bool{
		"":                               false,
		"SLURM_JOB_ID=7":                 true,
		"SLURM_JOB_ID=7 SLURM_STEP_ID=0": false, // a task
		"SLURM_JOB_ID=7 SLURM_STEP_ID=4294967291": true, // a batch script
	} {
		if got := InAllocation(strings.Fields(env)); got != want {
			t.Errorf("%q: %v", env, got)
		}
	}
}

// TestErrorsKeepTheirStatus checks which status and text an error has that passes several places.
func TestErrorsKeepTheirStatus(t *testing.T) {
	over, end := context.WithCancelCause(t.Context())
	end(errors.New("ended by SIGTERM"))
	for _, c := range []struct {
		err  error
		want console.Status
		text string
	}{
		{notStarted("no starter"), console.StatusNotStarted, "no starter"},
		{failed(console.StatusNotStarted, misused("no job")), console.StatusUsage, "no job"},
		{failed(console.StatusNotStarted, fmt.Errorf("find: %w", misused("no job"))), console.StatusUsage, "find: no job"},
		{NotBuilt(t.Context(), errors.New("refused"), errors.New("no gdb\n")), console.StatusNoTree, "refused\nno gdb"},
		{NotBuilt(over, over.Err(), nil), console.StatusNoTree, "ended by SIGTERM"},
	} {
		var known *Error
		if !errors.As(c.err, &known) || known.Status != c.want || c.err.Error() != c.text {
			t.Errorf("%v has %+v, want %d, %q", c.err, known, c.want, c.text)
		}
	}
}
