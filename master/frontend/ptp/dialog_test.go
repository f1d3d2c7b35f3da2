package ptp

import (
	"context"
	"errors"
	"io"
	"log/slog"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"sdm/master/session"
	"sdm/master/session/sessiontest"
	"sdm/protocol"
	"sdm/protocol/ptp"
	"sdm/protocol/ptp/ptptest"
	"sdm/protocol/rank"
)

// A file of testdata/dialog is a taped session, a line "====", and the packets that the front end
// sends ("> CODE ARGS") and receives ("< CODE ARGS") with it, on four ranks. Adjacent lines "<?
// CODE ARGS" are received in any order: they are about different ranks. Arguments are separated by
// spaces, or quoted as in Go.
func TestDialogs(t *testing.T) {
	files, err := filepath.Glob("testdata/dialog/*.txt")
	if err != nil || len(files) == 0 {
		t.Fatalf("no dialogs: %v", err)
	}
	for _, file := range files {
		t.Run(filepath.Base(file), func(t *testing.T) { synctest.Test(t, func(t *testing.T) { dialog(t, file) }) })
	}
}

func dialog(t *testing.T, file string) {
	text, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	scenes, words, ok := strings.Cut(string(text), "\n====\n")
	if !ok {
		t.Fatal("no line ====")
	}
	tape, err := sessiontest.ReadTape(scenes)
	if err != nil {
		t.Fatal(err)
	}
	s := serve(t, 4, func(context.Context) (session.Session, session.Report, error) {
		return tape, session.Report{Servers: 4, Ranks: rank.Range(0, 3)}, nil
	})
	var any []string // in any order
	for i, line := range strings.Split(words, "\n") {
		if line = strings.TrimSpace(line); line == "" || line[0] == '#' {
			continue
		}
		sign, rest, _ := strings.Cut(line, " ")
		code, args := parse(t, rest)
		if sign != "<?" && len(any) > 0 {
			s.receives(any)
			any = nil
		}
		want := ptp.Packet{ID: code, Args: args}.String()
		switch sign {
		case ">":
			s.send(code, args...)
		case "<":
			if got := s.next().String(); got != want {
				t.Fatalf("line %d of the dialog: heard\n%s\nwant\n%s", i+1, got, want)
			}
		case "<?":
			any = append(any, want)
		default:
			t.Fatalf("line %d of the dialog: %s", i+1, line)
		}
	}
	s.receives(any)
	s.send(ptp.Quit)
	if p, err := s.eclipse.Next(); !errors.Is(err, io.EOF) && !errors.Is(err, io.ErrClosedPipe) {
		t.Errorf("after QUIT: %v, %v", p, err)
	}
	s.ends(nil)
	var asked []string
	for _, c := range tape.Calls() {
		asked = append(asked, "> "+strings.TrimSpace(c.Command+" "+c.Ranks))
	}
	var want []string
	for line := range strings.Lines(scenes) {
		if line[0] == '>' {
			want = append(want, strings.TrimSpace(line))
		}
	}
	if got, want := strings.Join(asked, "\n"), strings.Join(want, "\n"); got != want {
		t.Errorf("the session was asked\n%s\nwant\n%s", got, want)
	}
	if err := tape.Close(t.Context()); err != nil {
		t.Error(err)
	}
}

// parse reads a code and arguments.
func parse(t *testing.T, text string) (ptp.Code, []string) {
	t.Helper()
	var words []string
	for text = strings.TrimSpace(text); text != ""; text = strings.TrimSpace(text) {
		word, rest, _ := strings.Cut(text, " ")
		if quoted, err := strconv.QuotedPrefix(text); err == nil {
			rest = text[len(quoted):]
			word, _ = strconv.Unquote(quoted)
		}
		words, text = append(words, word), rest
	}
	code, err := strconv.Atoi(words[0])
	if err != nil {
		t.Fatal(err)
	}
	return ptp.Code(code), words[1:]
}

// served is a Serve with its front end.
type served struct {
	t       *testing.T
	eclipse *ptptest.Eclipse
	ended   chan error
}

func serve(t *testing.T, tasks int, open Open) *served {
	t.Helper()
	e, conn := ptptest.Piped(tasks)
	s := &served{t: t, eclipse: e, ended: make(chan error, 1)}
	ctx, cancel := context.WithCancel(context.Background())
	go func() { s.ended <- Serve(ctx, conn, open, slog.New(slog.DiscardHandler)) }()
	t.Cleanup(func() { cancel(); e.Close() })
	return s
}

func (s *served) send(code ptp.Code, args ...string) {
	s.t.Helper()
	if err := s.eclipse.Send(code, args...); err != nil {
		s.t.Fatal(err)
	}
}

func (s *served) next() ptp.Packet {
	s.t.Helper()
	p, err := s.eclipse.Next()
	if err != nil {
		s.t.Fatalf("%v; the last packets are %v", err, s.eclipse.Received[max(0, len(s.eclipse.Received)-3):])
	}
	return p
}

// receives receives events in any order.
func (s *served) receives(want []string) {
	s.t.Helper()
	var got []string
	for range want {
		got = append(got, s.next().String())
	}
	slices.Sort(got)
	slices.Sort(want)
	if !slices.Equal(got, want) {
		s.t.Fatalf("heard\n%s\nwant\n%s", strings.Join(got, "\n"), strings.Join(want, "\n"))
	}
}

// ends waits for the end of Serve.
func (s *served) ends(want error) {
	s.t.Helper()
	select {
	case err := <-s.ended:
		if !errors.Is(err, want) || want == nil && err != nil {
			s.t.Errorf("ended with %v, want %v", err, want)
		}
	case <-time.After(time.Minute):
		s.t.Fatal("it does not end")
	}
}

func TestNoSession(t *testing.T) {
	missing := errors.New("servers 0-3 of 4 never registered")
	s := serve(t, 4, func(context.Context) (session.Session, session.Report, error) {
		return nil, session.Report{Ranks: rank.Range(0, 3)}, missing
	})
	s.send(ptp.Start, "a", "/bin", "/tmp")
	if got, want := s.next().String(), `112 0 ["4:0f" "5" "servers 0-3 of 4 never registered"]`; got != want {
		t.Errorf("heard %s, want %s", got, want)
	}
	s.send(ptp.StackDepth, "4:05")
	if got, want := s.next().String(), `112 0 ["4:05" "5" "servers 0-3 of 4 never registered"]`; got != want {
		t.Errorf("heard %s, want %s", got, want)
	}
	s.send(ptp.Terminate, "4:0f")
	if got, want := s.next().String(), `111 0 ["4:0f"]`; got != want {
		t.Errorf("heard %s, want %s", got, want)
	}
	s.send(ptp.Quit)
	s.ends(missing)
}

// The end of the connection, or invalid data, ends Serve, also while the session is being built.
func TestGone(t *testing.T) {
	for name, say := range map[string]func(*served){
		"hangs up":      func(s *served) { s.eclipse.Close() },
		"speaks HTTP":   func(s *served) { s.eclipse.Raw([]byte("GET / HTTP/1.1\r\n\r\n")) },
		"half a packet": func(s *served) { s.eclipse.Raw([]byte{0, 0, 1, 0, 0, 1}); s.eclipse.Close() },
	} {
		t.Run(name, func(t *testing.T) {
			s := serve(t, 4, func(ctx context.Context) (session.Session, session.Report, error) {
				<-ctx.Done()
				return nil, session.Report{}, ctx.Err()
			})
			s.send(ptp.Start, "a", "/bin", "/tmp")
			say(s)
			s.ends(ErrGone)
		})
	}
}

// Each rank is answered, whatever the command and its arguments; here by a session that refuses all
// calls.
func TestEveryCommandIsAnswered(t *testing.T) {
	launched := session.Event{Name: "reply", Group: protocol.Group{Kind: protocol.KindResult, Ranks: rank.Range(0, 3), Body: []byte("{}")}}
	held := session.Event{Name: "stopped", Group: protocol.Group{Kind: protocol.KindStopped, Ranks: rank.Range(0, 3), Body: []byte(`{"reason":"entry"}`)}}
	tape := sessiontest.NewTape(sessiontest.Scene{Events: []session.Event{launched, held}})
	defer tape.Close(t.Context())
	s := serve(t, 4, func(context.Context) (session.Session, session.Report, error) {
		return tape, session.Report{Servers: 4, Ranks: rank.Range(0, 3)}, nil
	})
	s.send(ptp.Start, "a", "/bin", "/tmp")
	s.next()
	for i, info := range ptp.Commands {
		code := ptp.Code(i)
		if info.NoSet {
			continue
		}
		for _, arg := range []string{"1", "", "x", "-1", "99999999999", "\xff\x00"} {
			args := []string{"4:0f"}
			for range info.Args {
				args = append(args, arg)
			}
			s.send(code, args...)
			for told := (rank.Set{}); told.Len() < 4; {
				p := s.next()
				some, _, err := ptp.ParseSet(p.Args[0])
				if err != nil || some.Intersects(told) {
					t.Fatalf("%s %q: %v, %v", info.Name, args, p, err)
				}
				told = told.Union(some)
			}
		}
	}
	s.send(ptp.Quit)
	if p, err := s.eclipse.Next(); !errors.Is(err, io.EOF) && !errors.Is(err, io.ErrClosedPipe) {
		t.Errorf("more is heard: %v, %v", p, err)
	}
	s.ends(nil)
}

// A rank that never has its first stop does not block START SESSION forever.
func TestRankThatDoesNotSettle(t *testing.T) {
	f := newFront(slog.New(slog.DiscardHandler))
	f.states = session.NewStates(rank.Range(0, 3))
	ctx, cancel := context.WithCancel(t.Context())
	settled := make(chan struct{})
	go func() {
		defer close(settled)
		f.awaitStopped(ctx, rank.Range(0, 3))
	}()
	f.feed(session.NewEvent(protocol.Group{Kind: protocol.KindStopped, Ranks: rank.Range(0, 2), Body: []byte("{}")}))
	select {
	case <-settled:
		t.Error("three of four are enough")
	default:
	}
	cancel()
	<-settled
	f.awaitStopped(t.Context(), rank.Range(0, 2))
}

// SUSPEND and TERMINATE wait only for the start and for commands that resume ranks.
func TestOrder(t *testing.T) {
	f := newFront(slog.New(slog.DiscardHandler))
	blocked := make(chan struct{})
	block := func(context.Context, *action) { <-blocked }
	ran := make(chan string, 4)
	run := func(_ context.Context, j *action) { ran <- j.what }
	f.begin(t.Context(), "look", rank.Of(0), inTurn, block)
	f.begin(t.Context(), "look again", rank.Of(0), inTurn, run)
	f.begin(t.Context(), "interrupt", rank.Of(0), urgent, run)
	if first := <-ran; first != "interrupt" {
		t.Errorf("%s came first", first)
	}
	f.begin(t.Context(), "go", rank.Of(0), orderOf(ptp.Go), run)
	f.begin(t.Context(), "interrupt it", rank.Of(0), orderOf(ptp.Suspend), run)
	f.begin(t.Context(), "another rank", rank.Of(1), inTurn, run)
	if first := <-ran; first != "another rank" {
		t.Errorf("%s came first", first)
	}
	close(blocked)
	f.actions.Wait()
	for _, want := range []string{"look again", "go", "interrupt it"} {
		if got := <-ran; got != want {
			t.Errorf("%s came before %s", got, want)
		}
	}
}
