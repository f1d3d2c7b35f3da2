// Sessions that several front ends share: joining them, and what front ends cost one another.

package main

import (
	"context"
	"fmt"
	"io"
	"log/slog"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"time"

	"sdm/cmd/internal/share"
	"sdm/master/frontend/rpc"
	"sdm/master/hub"
	"sdm/master/session"
	"sdm/protocol"
	"sdm/protocol/rank"
)

// benchSessions measures joins, what front ends cost one another, and a terminal that is lost.
func benchSessions(b *bench) {
	b.runInside("sessions")
	b.besides()
	b.progress("a console is killed, and a script joins")
	sdm := filepath.Join(b.dir, "sdm")
	b.build(sdm)
	b.build(filepath.Join(b.dir, "sdm-server"))
	var took []time.Duration
	for range 5 {
		took = append(took, b.lostTerminal(sdm))
	}
	b.table.add(row{what: "a lost terminal to the first answer after sdm join, 4 ranks", unit: "ms",
		ours: ms(median(took)), limit: limit{most: 1000}})
}

// lostTerminal kills a console and returns the time until a script that joins has an answer.
func (b *bench) lostTerminal(sdm string) time.Duration {
	command := func(args ...string) *exec.Cmd {
		cmd := exec.Command(sdm, args...)
		cmd.Env = b.environment()
		return cmd
	}
	console := command("run", "--keep", "1m", "-e", "print 6*7", "--stdin", "none", "-n", "4", b.program)
	commands, err := console.StdinPipe() // it waits for more
	if err != nil {
		fatal("sdm run", err)
	}
	defer commands.Close()
	readUntil(startPiped(console, "sdm run"), "= 42")
	console.Process.Kill()
	began := time.Now()
	answer, err := command("join", "-b", "-e", "print 6*7").CombinedOutput()
	took := time.Since(began)
	if err != nil || !strings.Contains(string(answer), "[0-3] 6*7 = 42") {
		fatal("sdm join", fmt.Errorf("%w\n%s", err, answer))
	}
	_ = console.Wait()
	b.quitSession(sdm)
	return took
}

// readUntil reads what sdm run says up to a text.
func readUntil(out io.Reader, want string) {
	said := make([]byte, 4096)
	for text := ""; !strings.Contains(text, want); {
		n, err := out.Read(said)
		if err != nil {
			fatal("sdm run", err)
		}
		text += string(said[:n])
	}
}

// quitSession ends the only session.
func (b *bench) quitSession(sdm string) {
	quit := exec.Command(sdm, "join", "-b", "-e", "quit")
	quit.Env = b.environment()
	if text, err := quit.CombinedOutput(); err != nil {
		fatal("sdm join", fmt.Errorf("%w\n%s", err, text))
	}
}

// besides measures the stops of benchStop as the first of several front ends sees them.
func (b *bench) besides() {
	self, err := os.Executable()
	if err != nil {
		fatal("stop", err)
	}
	const jobs = 8
	b.progress("one rank stops while 63 run, with and without further front ends, %d times", jobs*stops)
	took := map[string][]time.Duration{}
	for i := range jobs {
		j := startJob(self, manyServers, 1)
		s := j.share()
		console := s.connected()
		j.front = console
		j.launch("simulated")
		all := rank.Range(0, manyServers-1)
		j.ask(session.Call{Command: "continue", Ranks: all.Minus(rank.Of(deepRank)).String()})
		for half := range 2 {
			beside, leave := "none", func() {}
			if (half+i)%2 == 0 {
				beside, leave = "reads", s.besides(true)
				s.heard(protocol.KindFront)
			}
			for range stops / 2 {
				j.call(session.Call{Command: "step", Ranks: fmt.Sprint(deepRank)})
				took[beside] = append(took[beside], j.stopTime())
			}
			if leave(); beside != "none" {
				s.heard(protocol.KindFront)
			}
		}
		console.Leave(0)
		s.end()
		j.close()
	}
	b.table.add(row{what: "a rank's stop, 4 links down, to a console; another reads along, against none", unit: "ms",
		ours: ms(median(took["reads"])), floor: ms(median(took["none"])), limit: limit{ratio: 1.02}})
}

// sharedSession is a session that front ends share.
type sharedSession struct {
	*talk
	hub   *hub.Hub
	first *hub.View // in this process
	addr  string
	end   func()
}

// share gives the session a hub and a door. The first front end is in this process.
func (t *talk) share() *sharedSession {
	h := hub.New(hub.Config{Session: t.master, Ranks: t.all()})
	addr := fmt.Sprintf("unix:@sdm-bench/%d/%d", os.Getpid(), time.Now().UnixNano())
	l, err := rpc.Listen(addr, rpc.Options{})
	if err != nil {
		fatal("listen", err)
	}
	door := share.Door{
		Open: func(context.Context, rpc.Setup, func(string)) (*hub.Hub, session.Report, error) {
			return h, session.Report{Servers: 1, Ranks: t.all()}, nil
		},
		Log: slog.New(slog.DiscardHandler),
	}
	ctx, cancel := context.WithCancel(context.Background())
	var serving sync.WaitGroup
	serving.Go(func() {
		if err := l.Serve(ctx, door.Serve); err != nil {
			fatal("door", err)
		}
	})
	first, err := h.Join(protocol.FrontEnd{Name: "first"}, nil)
	if err != nil {
		fatal("join", err)
	}
	t.front = first
	return &sharedSession{talk: t, hub: h, first: first, addr: addr, end: func() {
		cancel()
		serving.Wait()
	}}
}

// heard waits until an event of a kind has come.
func (s *sharedSession) heard(kind protocol.Kind) {
	for s.next().Group.Kind != kind {
	}
}

// connected makes a front end at the socket the only one.
func (s *sharedSession) connected() *rpc.Client {
	client, err := rpc.Join(context.Background(), s.addr, rpc.Options{})
	if err == nil {
		_, err = client.Initialize(context.Background(), rpc.Setup{})
	}
	if err != nil {
		fatal("join", err)
	}
	s.first.Leave(0)
	return client
}

// join joins by the socket, and returns the time from the hello until the states of all ranks are known.
func (s *sharedSession) join() (*rpc.Client, time.Duration) {
	client, err := rpc.Join(context.Background(), s.addr, rpc.Options{})
	if err != nil {
		fatal("join", err)
	}
	began := time.Now()
	if _, err := client.Initialize(context.Background(), rpc.Setup{Front: &protocol.FrontEnd{Name: "late"}}); err != nil {
		fatal("join", err)
	}
	states := session.NewStates(s.all())
	for left := client.Welcome().Snapshot; left > 0; left-- {
		states.Feed(<-client.Events())
	}
	took := time.Since(began)
	if n := states.In(session.Stopped, session.Running).Len(); n != s.ranks {
		fatal("join", fmt.Errorf("the states of %d ranks are known", n))
	}
	return client, took
}

// insideSessions measures what front ends cost.
func insideSessions(in *insider) {
	for _, size := range []struct {
		servers int
		most    float64
	}{{1024, 10}, {16_384, 100}} {
		in.say("%d servers with %d simulated ranks", size.servers, 64*size.servers)
		c := startSimulated(64*size.servers, size.servers, "binomial", "", nil)
		s := c.share()
		s.launch("work")
		var every []rank.ID // every second server's
		for r := range rank.ID(s.ranks) {
			if r/64%2 == 0 {
				every = append(every, r)
			}
		}
		some := rank.Of(every...)
		s.ask(session.Call{Command: "break", Ranks: some.String(), Args: protocol.Args{Location: "helper"}})
		s.call(session.Call{Command: "continue", Ranks: some.String()})
		s.stopped(some)
		var took []time.Duration
		for range 9 {
			client, t := s.join()
			client.Leave(0)
			took = append(took, t)
		}
		what := fmt.Sprintf("join %d ranks, half of them elsewhere, from the hello to their states", s.ranks)
		in.add(what, "ms", ms(median(took)), size.most)
		s.end()
		c.close()
	}
	in.say("what front ends cost one another")
	const ranks = 64
	simulated := startSimulated(ranks, 8, "binomial", "run 0ms\nloop all\n", nil)
	s := simulated.share()
	s.launch("work")
	client, _ := s.join()
	far := talk{ranks: ranks, front: client, trouble: s.trouble}
	ask := func(t *talk) way { return timed(func() { t.print("", "size") }) }
	c := compare(9, 50, ask(&far), ask(s.talk))
	in.out.Encode(figure{What: "print on 64 ranks by the socket, against the hub in the same process", Unit: "ms",
		Ours: ms(c.times[0]), Floor: ms(c.times[1]), Times: 1, Slack: 0.3})
	client.Leave(0)

	beside := func(rounds int) time.Duration {
		defer s.besides(false)()
		return s.interrupts(rounds)
	}
	c = compare(5, 20, beside, s.interrupts)
	in.out.Encode(figure{What: "64 ranks are interrupted, beside a front end that reads nothing, against none", Unit: "ms",
		Ours: ms(c.times[0]), Floor: ms(c.times[1]), Times: 1, Slack: 5})
	s.end()
	simulated.close()
}

// interrupts returns how long ranks that run take to stop.
func (s *sharedSession) interrupts(rounds int) time.Duration {
	took := make([]time.Duration, rounds)
	for i := range took {
		s.ask(session.Call{Command: "continue"})
		began := time.Now()
		s.call(session.Call{Command: "interrupt"})
		s.stopped(s.all())
		took[i] = time.Since(began)
	}
	return median(took)
}

// besides adds a front end that only reads, or does nothing at all, until leave is called.
func (s *sharedSession) besides(reads bool) (leave func()) {
	_, name, _ := strings.Cut(s.addr, ":")
	conn, err := net.Dial("unix", name)
	if err != nil {
		fatal("join", err)
	}
	present := len(s.hub.Present())
	changed := s.hub.Changed()
	const hello = `{"jsonrpc":"2.0","id":1,"method":"initialize"}`
	fmt.Fprintf(conn, "Content-Length: %d\r\n\r\n%s", len(hello), hello)
	for len(s.hub.Present()) == present {
		<-changed
		changed = s.hub.Changed()
	}
	var reading sync.WaitGroup
	if reads {
		reading.Go(func() { _, _ = io.Copy(io.Discard, conn) })
	}
	return func() {
		changed := s.hub.Changed()
		conn.Close()
		reading.Wait()
		for len(s.hub.Present()) > present {
			<-changed
			changed = s.hub.Changed()
		}
	}
}
