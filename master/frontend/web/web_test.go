// Browsers at the door, good and bad ones, over a taped session.

package web

import (
	"bufio"
	"context"
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"sdm/master/session"
	"sdm/master/session/sessiontest"
	"sdm/protocol"
	"sdm/protocol/rank"
)

const tape = `
{"event":"started","ranks":"0-7","n":8}
{"event":"stopped","ranks":"0-6","n":7,"reason":"breakpoint","breakpoint":1,"frame":{"func":"helper","file":"work.c","line":18}}
{"event":"output","ranks":"3","n":1,"stream":"stdout","text":"<img src=x onerror=alert(1)>\n"}
> stat
{"event":"reply","ranks":"0-6","n":7,"result":{"expr":"n"},"columns":{"value":{"values":[{"value":"5","ranks":"0-6"}]}}}
> refused
! no such rank
> open
...
`

// scene is a door over a tape, with a clock.
type scene struct {
	t    *testing.T
	tape *sessiontest.Tape
	door *Door
	now  atomic.Int64 // ns
	key  string
}

func newScene(t *testing.T, allow protocol.Permission) *scene {
	s := &scene{t: t}
	var err error
	if s.tape, err = sessiontest.ReadTape(tape); err != nil {
		t.Fatal(err)
	}
	s.door = New(Config{Session: s.tape, Ranks: rank.Range(0, 7), Program: "app", Allow: allow,
		Now: func() time.Time { return time.Unix(0, s.now.Load()) }})
	t.Cleanup(func() {
		s.tape.Close(context.Background())
		<-s.door.Over()
	})
	for n := s.door.since(0, 1); n.next == 0; n = s.door.since(0, 1) { // until the events of the tape are taken
		<-n.changed
	}
	return s
}

// ask makes a request as the page does, changed by with.
func (s *scene) ask(method, path, body string, with func(*http.Request)) (int, string) {
	s.t.Helper()
	r := httptest.NewRequest(method, path, strings.NewReader(body))
	r.Host = "localhost:8080"
	r.Header.Set("Sec-Fetch-Site", "same-origin")
	if method == "POST" {
		r.Header.Set("Origin", "http://localhost:8080")
	}
	if s.key != "" {
		r.Header.Set("Authorization", "Bearer "+s.key)
	}
	if with != nil {
		with(r)
	}
	w := httptest.NewRecorder()
	s.door.Handler().ServeHTTP(w, r)
	if w.Header().Get("Set-Cookie") != "" || !strings.HasPrefix(w.Header().Get("Content-Security-Policy"), "default-src 'none'; ") {
		s.t.Errorf("%s %s: %v", method, path, w.Header())
	}
	return w.Code, w.Body.String()
}

// open opens a link.
func (s *scene) open(token string) int {
	code, body := s.ask("POST", "/api/key", fmt.Sprintf(`{"token":%q}`, token), nil)
	var given struct{ Key string }
	if json.Unmarshal([]byte(body), &given) == nil && given.Key != "" {
		s.key = given.Key
	}
	return code
}

func TestTokens(t *testing.T) {
	s := newScene(t, protocol.Look)
	if code, _ := s.ask("GET", "/api/session", "", nil); code != http.StatusUnauthorized {
		t.Errorf("without a key: %d", code)
	}
	first, second := s.door.Token(), s.door.Token()
	if code := s.open(first); code != http.StatusOK {
		t.Fatalf("a token: %d", code)
	}
	if code, body := s.ask("GET", "/api/session", "", nil); code != http.StatusOK || !strings.Contains(body, `"program":"app"`) {
		t.Errorf("with its key: %d %s", code, body)
	}
	if code := s.open(first); code != http.StatusUnauthorized {
		t.Errorf("a used token: %d", code)
	}
	if code := s.open(s.key); code != http.StatusUnauthorized {
		t.Errorf("a key as a token: %d", code)
	}
	s.now.Add(int64(tokenTime + 1))
	if code := s.open(second); code != http.StatusUnauthorized {
		t.Errorf("an expired token: %d", code)
	}
	if code, _ := s.ask("GET", "/api/session", "", nil); code != http.StatusOK {
		t.Errorf("an old key: %d", code)
	}
	s.key = first
	if code, _ := s.ask("GET", "/api/session", "", nil); code != http.StatusUnauthorized {
		t.Errorf("a token as a key: %d", code)
	}
}

func TestForeigners(t *testing.T) {
	s := newScene(t, protocol.Look)
	s.open(s.door.Token())
	set := func(name, value string) func(*http.Request) {
		return func(r *http.Request) { r.Header.Set(name, value) }
	}
	host := func(name string) func(*http.Request) {
		return func(r *http.Request) { r.Host = name; r.Header.Del("Origin") }
	}
	tests := []struct {
		name string
		path string
		with func(*http.Request)
		code int
	}{
		{"the page", "/api/session", nil, 200},
		{"a program", "/api/session", func(r *http.Request) { r.Header.Del("Sec-Fetch-Site") }, 200},
		{"another name of this host", "/api/session", host("evil.example:8080"), 403},
		{"a name that begins as ours", "/api/session", host("localhost.evil.example"), 403},
		{"an address of this host", "/api/session", host("127.0.0.1:1234"), 200},
		{"an address of IPv6", "/api/session", host("[::1]:1234"), 200},
		{"without a name", "/api/session", host(""), 403},
		{"a page of another site", "/api/session", set("Sec-Fetch-Site", "cross-site"), 403},
		{"a page of another port", "/api/session", set("Sec-Fetch-Site", "same-site"), 403},
		{"typed by hand", "/api/session", set("Sec-Fetch-Site", "none"), 403},
		{"another origin", "/api/session", set("Origin", "http://localhost:9999"), 403},
		{"no origin", "/api/session", set("Origin", "null"), 403},
		{"a link to the page", "/", func(r *http.Request) {
			r.Header.Set("Sec-Fetch-Site", "cross-site")
			r.Header.Set("Sec-Fetch-Mode", "navigate")
		}, 200},
		{"the page as a picture", "/", func(r *http.Request) {
			r.Header.Set("Sec-Fetch-Site", "cross-site")
			r.Header.Set("Sec-Fetch-Mode", "no-cors")
		}, 403},
		{"a file that is not there", "/page/../web.go", nil, 404},
		{"a folder", "/page", nil, 404},
	}
	for _, test := range tests {
		if code, _ := s.ask("GET", test.path, "", test.with); code != test.code && !(test.code == 404 && code == http.StatusTemporaryRedirect) {
			t.Errorf("%s: %d, not %d", test.name, code, test.code)
		}
	}
}

func TestCalls(t *testing.T) {
	s := newScene(t, protocol.Look)
	s.open(s.door.Token())
	if code, body := s.ask("POST", "/api/call", `{"command":"stat","ranks":"0-6","args":{"expr":"n"}}`, nil); code != 200 ||
		!strings.Contains(body, `"text":"[0-6]`) || !strings.Contains(body, `"answered":7`) {
		t.Errorf("stat: %d %s", code, body)
	}
	if c := s.tape.Calls(); len(c) != 1 || !c[0].Args.Pure {
		t.Errorf("a look that may change something: %+v", c)
	}
	if code, body := s.ask("POST", "/api/call", `{"command":"ranks"}`, nil); code != 422 || !strings.Contains(body, "no such rank") {
		t.Errorf("a refused call: %d %s", code, body)
	}
	for body, want := range map[string]int{
		`{"command":"continue"}`:                 403,
		`{"command":"break"}`:                    403,
		`{"command":"gdb","args":{"text":"!"}}`:  403,
		`{"command":"quit"}`:                     403,
		`{"command":"stat","wait":1e9}`:          403,
		`{"command":"stat","wait":-1}`:           403,
		`{"command":"x","args":{"expr":"f()"}}`:  403,
		`{"command":"stat","bad":1}`:             400,
		`{"command":`:                            400,
		`"` + strings.Repeat("x", maxBody) + `"`: 400,
	} {
		if code, said := s.ask("POST", "/api/call", body, nil); code != want {
			t.Errorf("%.60s: %d %s", body, code, said)
		}
	}
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	if code, _ := s.ask("POST", "/api/call", `{"command":"ranks"}`, func(r *http.Request) { *r = *r.WithContext(ctx) }); code != 504 {
		t.Errorf("a browser that has gone: %d", code)
	}
	if c := s.tape.Calls(); c[len(c)-1].Command != "cancel" || c[len(c)-1].Args.Of != 3 {
		t.Errorf("the call of a browser that has gone: %+v", c)
	}
}

// TestOffered compares what the page may do with what the commands require.
func TestOffered(t *testing.T) {
	for _, o := range offered {
		info, known := protocol.LookupCommand(o.command)
		if needs := protocol.PermissionFor(info, protocol.Args{}); !known || needs != o.needs {
			t.Errorf("%s: known %v, requires %d", o.command, known, needs)
		}
		if _, err := callFor(request{Command: o.command}, protocol.Steer); err != nil {
			t.Error(err)
		}
	}
}

// TestLines gives lines of the prompt.
func TestLines(t *testing.T) {
	for _, test := range []struct {
		line  string
		allow protocol.Permission
		want  string
	}{
		{"print n", protocol.Steer, "not allowed to this page"},
		{"print n", protocol.Change, "print 0-3"},
		{"[5] set variable n = 3", protocol.Change, "set variable 5"},
		{"print n\nkill", protocol.Change, "one line at a time"},
		{"  ", protocol.Change, "the line is empty"},
		{"quit 3", protocol.Change, "a word of the prompt itself"},
		{"stacks --json > /etc/x", protocol.Change, "files are written at the prompt only"},
		{"no such word", protocol.Change, "no"},
	} {
		c, err := lineFor(request{Line: test.line, Ranks: "0-3"}, test.allow)
		said := c.Command + " " + c.Ranks
		if err != nil {
			said = err.Error()
		}
		if !strings.Contains(said, test.want) {
			t.Errorf("%q: %s, not %s", test.line, said, test.want)
		}
	}
}

func TestStates(t *testing.T) {
	s := newScene(t, protocol.Look)
	s.open(s.door.Token())
	_, body := s.ask("GET", "/api/states", "", nil)
	var got statesJSON
	if err := json.Unmarshal([]byte(body), &got); err != nil {
		t.Fatal(err)
	}
	var runs []uint64
	for b := got.Runs; len(b) > 0; {
		n, size := binary.Uvarint(b)
		runs, b = append(runs, n), b[size:]
	}
	if fmt.Sprint(runs) != "[7 1 1 2]" || got.N != 8 || got.Groups[0].Func != "helper" || got.Groups[1].State != session.Starting {
		t.Errorf("%v %s", runs, body)
	}
}

// TestManyStates bounds what a million ranks that differ need.
func TestManyStates(t *testing.T) {
	states := session.NewStates(rank.Range(0, maxGroups))
	for i := range rank.ID(maxGroups + 1) {
		states.Feed(session.NewEvent(protocol.Group{Kind: protocol.KindExited, Ranks: rank.Of(i),
			Body: fmt.Appendf(nil, `{"code":%d}`, i)}))
	}
	var got statesJSON
	if err := json.Unmarshal(encodeStates(1, states), &got); err != nil || len(got.Groups) != 1 || got.N != maxGroups+1 {
		t.Errorf("%d groups of %d ranks, %v", len(got.Groups), got.N, err)
	}
}

// output is an event of a rank.
func output(text string) session.Event {
	return session.NewEvent(protocol.Group{Kind: protocol.KindStdout, Ranks: rank.Of(0), Body: []byte(text)})
}

func TestRecord(t *testing.T) {
	var r record
	for i := range maxLines + 10 {
		r.add([]byte{byte(i)})
	}
	if lines, next, missed := r.from(4, 3); len(lines) != 3 || lines[0][0] != 10 || next != 13 || missed != 6 {
		t.Errorf("%v, then %d, missed %d", lines, next, missed)
	}
	r.add(make([]byte, maxRecord))
	if lines, next, missed := r.from(r.end()-1, 1); len(lines) != 1 || next != r.end() || missed != 0 {
		t.Errorf("%d lines, then %d, missed %d", len(lines), next, missed)
	}
	if lines, _, missed := r.from(r.end()+5, 1); len(lines) != 1 || missed != 0 {
		t.Errorf("a cursor of another record: %d lines, missed %d", len(lines), missed)
	}
}

// TestServe reads the events over a real connection, resumes, and sees the end.
func TestServe(t *testing.T) {
	s := newScene(t, protocol.Look)
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	served := make(chan error, 1)
	go func() { served <- s.door.Serve(context.Background(), Peers(l, discard())) }()
	s.open(s.door.Token())
	client := &http.Client{Transport: &http.Transport{}}
	defer client.CloseIdleConnections()
	events := func(after string) *bufio.Scanner {
		r, _ := http.NewRequest("GET", "http://"+l.Addr().String()+"/api/events"+after, nil)
		r.Header.Set("Authorization", "Bearer "+s.key)
		answer, err := client.Do(r)
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { answer.Body.Close() })
		return bufio.NewScanner(answer.Body)
	}
	first := events("")
	for _, want := range []string{`"text":"<img src=x onerror=alert(1)>\n"`, `{"cursor":1}`, `{"states":`} {
		if !first.Scan() || !strings.Contains(first.Text(), want) {
			t.Errorf("%s: %q", want, first.Text())
		}
	}
	stalled := events("") // nobody reads it
	_ = stalled
	for i := range 20_000 {
		s.tape.Emit(output(fmt.Sprintf("line %d\n", i)))
	}
	for n := s.door.since(20_001, 1); n.next != 20_001; n = s.door.since(20_001, 1) { // a stalled page delays nothing
		<-n.changed
	}
	if again := events("?after=1"); !again.Scan() || again.Text() != fmt.Sprintf(`{"missed":%d}`, 20_000-maxLines) {
		t.Errorf("a page that comes back: %q", again.Text())
	}
	s.tape.Close(context.Background())
	last := ""
	for first.Scan() {
		last = first.Text()
	}
	if last != `{"over":true}` {
		t.Errorf("the end: %q", last)
	}
	if err := <-served; !errors.Is(err, ErrOver) {
		t.Error(err)
	}
}

// TestStop ends a door while a page is open.
func TestStop(t *testing.T) {
	s := newScene(t, protocol.Look)
	l, err := net.Listen("unix", t.TempDir()+"/s")
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(context.Background())
	served := make(chan error, 1)
	go func() { served <- s.door.Serve(ctx, Peers(l, discard())) }()
	s.open(s.door.Token())
	conn, err := net.Dial("unix", l.Addr().String())
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close()
	fmt.Fprintf(conn, "GET /api/events HTTP/1.1\r\nHost: localhost\r\nAuthorization: Bearer %s\r\n\r\n", s.key)
	if _, err := bufio.NewReader(conn).ReadString('\n'); err != nil {
		t.Fatal(err)
	}
	cancel()
	if err := <-served; err != nil {
		t.Error(err)
	}
	if _, err := io.Copy(io.Discard, conn); err != nil && !errors.Is(err, net.ErrClosed) {
		t.Log(err) // cut
	}
}

// TestPage serves the files of the page, each of its type, and nothing else.
func TestPage(t *testing.T) {
	s := newScene(t, protocol.Look)
	entries, err := files.ReadDir("page")
	if err != nil {
		t.Fatal(err)
	}
	for _, e := range entries {
		name, isModule := strings.CutSuffix(e.Name(), ".mjs")
		if isModule != slices.Contains(modules, name) {
			t.Errorf("%s is not a part of the script, or twice", e.Name())
		}
		if code, body := s.ask("GET", "/"+e.Name(), "", nil); !isModule && (code != 200 || body == "") {
			t.Errorf("%s: %d", e.Name(), code)
		}
	}
	code, body := s.ask("GET", "/page.js", "", nil)
	if code != 200 || strings.Contains(body, "\nimport ") || strings.Contains(body, "\nexport ") || strings.Contains(body, "</script") {
		t.Errorf("the script: %d, %.200s", code, body)
	}
	for i, name := range modules {
		for _, m := range importLine.FindAllStringSubmatch(string(fileOf(name+".mjs")), -1) {
			if !slices.Contains(modules[:i], m[3]) {
				t.Errorf("%s comes before %s, which it imports", name, m[3])
			}
		}
	}
	if code, body := s.ask("GET", "/", "", nil); code != 200 || strings.Contains(body, "<script>") || strings.Contains(body, "style=") {
		t.Errorf("the page has what its policy forbids: %d", code)
	}
}

// BenchmarkStates encodes the states of a million ranks: in two groups, and each unlike its neighbours.
func BenchmarkStates(b *testing.B) {
	for name, step := range map[string]rank.ID{"two groups": 1 << 19, "all in turns": 2} {
		b.Run(name, func(b *testing.B) {
			states := session.NewStates(rank.Range(0, 1<<20-1))
			var ids []rank.ID
			for i := rank.ID(0); i < 1<<20; i += step {
				ids = append(ids, i)
			}
			states.Feed(session.NewEvent(protocol.Group{Kind: protocol.KindRunning, Ranks: rank.Of(ids...)}))
			b.ReportAllocs()
			for b.Loop() {
				b.ReportMetric(float64(len(encodeStates(1, states))), "bytes")
			}
		})
	}
}
