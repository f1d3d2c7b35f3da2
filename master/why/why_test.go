package why

import (
	"os"
	"strings"
	"testing"

	"go.uber.org/goleak"

	"sdm/master/session"
	"sdm/master/session/sessiontest"
	"sdm/master/talk"
	"sdm/protocol"
	"sdm/protocol/rank"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// pageOf returns the page about a session that a tape plays, after further events.
func pageOf(t *testing.T, more ...session.Event) string {
	t.Helper()
	b, err := os.ReadFile("testdata/hung.tape")
	if err != nil {
		t.Fatal(err)
	}
	tape, err := sessiontest.ReadTape(string(b))
	if err != nil {
		t.Fatal(err)
	}
	tape.Emit(more...)
	all := rank.Range(0, 5)
	talking := talk.New(tape, all)
	defer func() {
		tape.Close(t.Context())
		<-talking.Over()
	}()
	page, err := Page(t.Context(), Subject{Talk: talking, Ranks: all, All: all,
		Try: func(line string) string { return "sdm join sdm-1 -b -e '" + line + "'" }})
	if err != nil {
		t.Fatal(err)
	}
	return page
}

func TestPage(t *testing.T) {
	page := pageOf(t)
	at := 0
	for _, want := range []string{
		"certain: deadlock: 0-4 wait in MPI_Barrier on MPI_COMM_WORLD for 5, 5 waits for 0 (receive tag 99)\n",
		"[5] MPI_Recv from 0 tag 99, called by exchange (mpihung.c:12)\n",
		"\nstacks:\n", "└─ [5] (1) exchange mpihung.c:12\n",
		"\nends and stops:\n[5] stopped in exchange at mpihung.c:12, signal-received, SIGSEGV\n",
		"\nvalues at the odd ranks:\nin exchange, frame 3:\n[5] n = 7\n",
		"\nlast output (words of the program, not of sdm):\n[5] certain: all is well^[[2J\n",
		"\ntry next:\nsdm join sdm-1 -b -e '[5] stacks --all-threads'",
	} {
		i := strings.Index(page[at:], want)
		if i < 0 {
			t.Fatalf("no %q after byte %d of\n%s", want, at, page)
		}
		at += i
	}
}

func TestPageIsBounded(t *testing.T) {
	var more []session.Event
	for range 100 {
		body := []byte(strings.Repeat("long words ", 200) + "\n")
		more = append(more, session.NewEvent(protocol.Group{Kind: protocol.KindStdout, Ranks: rank.Of(1), Body: body}))
	}
	page := pageOf(t, more...)
	if len(page) > MaxPage || !strings.Contains(page, "more") {
		t.Errorf("%d bytes:\n%s", len(page), page)
	}
}
