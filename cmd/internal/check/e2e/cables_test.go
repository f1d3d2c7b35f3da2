package e2e

import (
	"fmt"
	"strings"
	"syscall"
	"testing"
	"time"

	"sdm/launch/launchtest"
)

// spread is a session on four simulated hosts with a server and a rank each. The master is on the
// first host. Server 1 (host 1) has server 2 below it.
type spread struct {
	*console
	hosts   *launchtest.Hosts
	servers []*process
	master  *process
}

// spreadOut starts the session, with a silence of a few seconds.
func (s *scene) spreadOut() *spread {
	s.t.Helper()
	h := launchtest.Up(s.t, 4)
	// The secret is the user's own, in the home directory, which the hosts share.
	front := &console{process: s.on(h, 0, "sdm", "listen", "127.0.0.1:0", "--format", "ndjson"), size: 4}
	line := front.after(front.err, "start it with: sdm-master --connect ")
	addr, _, _ := strings.Cut(line, " ")
	o := &spread{console: front, hosts: h}
	o.master = s.on(h, 0, "sdm-master", "--connect", addr, "--rendezvous", h.Address(0)+":0", "--servers", "4", "--heartbeat", "500ms", "--silence", "6s")
	meet := o.master.after(o.master.err, "servers register at ")
	for i := range 4 {
		o.servers = append(o.servers, s.on(h, i, "sdm-server", "--server", fmt.Sprint(i), "--size", "4", "--rendezvous", meet, "--linger", "1s", "--", program("spin")))
	}
	front.standing()
	front.answers("0-3")
	return o
}

// TestHostsThatAreCutOff checks that a fault of the network to a host costs only the ranks of that
// host, and that the session continues.
func TestHostsThatAreCutOff(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name string
		host int // its server is lost
		rest string
		harm func(o *spread)
		heal func(o *spread)
	}{
		{"partition of an inner server", 1, "0,2-3",
			func(o *spread) { o.hosts.Partition(1) }, func(o *spread) { o.hosts.Heal(1) }},
		{"a leaf's cable is cut", 3, "0-2",
			func(o *spread) { o.hosts.Cut(3) }, func(o *spread) { o.hosts.Heal(3) }},
		{"an inner server is frozen", 1, "0,2-3",
			func(o *spread) { o.signalServer(1, syscall.SIGSTOP) }, func(o *spread) { o.signalServer(1, syscall.SIGCONT) }},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			s := newScene(t)
			o := s.spreadOut()
			o.turn()
			c.harm(o)
			if e := o.comes("lost", fmt.Sprint(c.host)); len(e.Hosts) != 1 || e.Hosts[0] != o.hosts.Host(c.host) {
				t.Errorf("lost without its host: %s", e.text)
			}
			for _, e := range o.seen[o.mark:] {
				if e.Event == "lost" && e.Ranks != fmt.Sprint(c.host) {
					t.Errorf("others are lost, too: %s", e.text)
				}
			}
			o.answers(c.rest)
			c.heal(o)
			// It has been given up, so it ends, with its rank.
			o.servers[c.host].status(patience)
			o.answers(c.rest)
			o.quit()
			o.master.status(patience)
		})
	}
}

// signalServer sends a signal to the server on a host. The script `on` has replaced itself by the
// server.
func (o *spread) signalServer(host int, sig syscall.Signal) {
	o.t.Helper()
	o.servers[host].signal(sig)
}

// TestQuitBehindASilentServer checks that a quit that a partition swallows ends the servers behind it all the same,
// and does not wait for the one that does not answer.
func TestQuitBehindASilentServer(t *testing.T) {
	s := newScene(t)
	o := s.spreadOut()
	o.turn()
	o.hosts.Partition(1)
	began := time.Now()
	o.quit()
	o.master.status(patience)
	o.servers[2].status(patience)                         // below server 1
	if took := time.Since(began); took > 20*time.Second { // 5 s on a quiet machine; a lost parent would be a minute
		t.Errorf("quit took %v", took)
	}
	o.hosts.Heal(1)
	o.servers[1].status(patience)
}

// TestSlowHost checks that a slow network delays answers, but that no rank is lost.
func TestSlowHost(t *testing.T) {
	t.Parallel()
	s := newScene(t)
	o := s.spreadOut()
	o.hosts.Slow(1, "256kbit")
	for range 5 {
		o.answers("0-3")
	}
	if lost := o.ranksOf("lost"); lost != "" {
		t.Errorf("lost behind a slow cable: %s", lost)
	}
	o.hosts.Heal(1)
	o.answers("0-3")
	o.quit()
	o.master.exits(0)
}
