package e2e

import (
	"crypto/ed25519"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"io"
	"math/big"
	"net"
	"os"
	"regexp"
	"strings"
	"testing"
	"time"
)

// silentStrangers is how many connections stay silent at a port during an attack: more than a port
// accepts unauthenticated.
const silentStrangers = 40

// refusalTime is how long an unauthenticated client waits for an answer that must not come: long
// enough for one that would come at once.
const refusalTime = 100 * time.Millisecond

// attacks are what unauthenticated clients send. Each returns what it has received.
var attacks = []struct {
	name string
	do   func(net.Conn) []byte
}{
	{"garbage", func(c net.Conn) []byte {
		b := make([]byte, 100_000)
		rand.Read(b)
		return ask(c, b)
	}},
	{"a long length", func(c net.Conn) []byte { return ask(c, []byte{0xff, 0xff, 0xff, 0xff, 1, 0, 0}) }},
	{"HTTP", func(c net.Conn) []byte { return ask(c, []byte("GET / HTTP/1.1\r\nHost: localhost\r\n\r\n")) }},
	{"JSON-RPC", func(c net.Conn) []byte {
		const call = `{"jsonrpc":"2.0","id":1,"method":"quit"}`
		return ask(c, fmt.Appendf(nil, "Content-Length: %d\r\n\r\n%s", len(call), call))
	}},
	{"TLS with another certificate", func(c net.Conn) []byte {
		heard := &recorder{Conn: c}
		// This fails.
		tls.Client(heard, &tls.Config{InsecureSkipVerify: true, Certificates: []tls.Certificate{foreign()}}).Handshake()
		return heard.bytes
	}},
}

// ask sends b and returns the answer.
func ask(c net.Conn, b []byte) []byte {
	c.Write(b) // may fail, since the other side may have closed
	answer, _ := io.ReadAll(c)
	return answer
}

// recorder keeps what is read through it.
type recorder struct {
	net.Conn
	bytes []byte
}

func (r *recorder) Read(b []byte) (int, error) {
	n, err := r.Conn.Read(b)
	r.bytes = append(r.bytes, b[:n]...)
	return n, err
}

// foreign returns a certificate of an unknown authority.
func foreign() tls.Certificate {
	public, key, err := ed25519.GenerateKey(rand.Reader)
	if err != nil {
		panic(err)
	}
	template := &x509.Certificate{SerialNumber: big.NewInt(1), NotAfter: time.Now().Add(time.Hour)}
	der, err := x509.CreateCertificate(rand.Reader, template, template, public, key)
	if err != nil {
		panic(err)
	}
	return tls.Certificate{Certificate: [][]byte{der}, PrivateKey: key}
}

// attack makes unauthenticated connections to an address; many stay silent until the end of the
// test. permitted is what the other side may send to everybody; nil: nothing.
func (s *scene) attack(addr string, permitted *regexp.Regexp) {
	s.t.Helper()
	dial := func() net.Conn {
		c, err := net.Dial("tcp", addr)
		if err != nil {
			s.t.Fatalf("%s: %v", addr, err)
		}
		s.t.Cleanup(func() { c.Close() })
		return c
	}
	defer func() {
		for range silentStrangers {
			dial()
		}
	}()
	for _, a := range attacks {
		c := dial()
		c.SetDeadline(time.Now().Add(refusalTime))
		heard := a.do(c)
		if len(heard) > 0 && (permitted == nil || !permitted.Match(heard)) {
			s.t.Errorf("%s at %s was answered: %q", a.name, addr, heard)
		}
	}
}

// ports returns the addresses at which processes of sdm in the scene listen.
func (s *scene) ports() []string {
	s.t.Helper()
	listening := map[string]string{} // address by inode
	text, err := os.ReadFile("/proc/net/tcp")
	more, err6 := os.ReadFile("/proc/net/tcp6")
	if err := errors.Join(err, err6); err != nil {
		s.t.Fatal(err)
	}
	for _, line := range strings.Split(string(text)+string(more), "\n") {
		f := strings.Fields(line)
		if len(f) > 9 && f[3] == "0A" { // proc(5): local address, state LISTEN, inode
			listening["socket:["+f[9]+"]"] = tcpAddr(f[1])
		}
	}
	var all []string
	for _, p := range s.found() {
		if !strings.HasPrefix(p.name, "sdm") {
			continue
		}
		fds, _ := os.ReadDir(fmt.Sprintf("/proc/%d/fd", p.pid)) // a process that has ended has no ports
		for _, fd := range fds {
			link, _ := os.Readlink(fmt.Sprintf("/proc/%d/fd/%s", p.pid, fd.Name()))
			if addr := listening[link]; addr != "" {
				all = append(all, addr)
			}
		}
	}
	return all
}

// tcpAddr parses an address in the kernel's notation: 32-bit words in the machine's byte order, in
// hexadecimal. For the wildcard address it returns 0.0.0.0, for any other IPv6 address ::1.
func tcpAddr(text string) string {
	host, port, _ := strings.Cut(text, ":")
	var n int
	fmt.Sscanf(port, "%X", &n)
	if strings.Trim(host, "0") == "" {
		return fmt.Sprintf("0.0.0.0:%d", n)
	}
	if len(host) == 8 {
		var ip [4]byte
		for i := range ip {
			fmt.Sscanf(host[2*i:2*i+2], "%X", &ip[3-i])
		}
		return fmt.Sprintf("%d.%d.%d.%d:%d", ip[0], ip[1], ip[2], ip[3], n)
	}
	return fmt.Sprintf("[::1]:%d", n)
}

// attackAll attacks every port of sdm and checks that none of them is open to other hosts.
func (s *scene) attackAll(want int) {
	s.t.Helper()
	ports := s.ports()
	if len(ports) != want {
		s.t.Errorf("ports: %v, want %d", ports, want)
	}
	for _, addr := range ports {
		if !strings.HasPrefix(addr, "127.") {
			s.t.Errorf("%s is not on the loopback", addr)
		}
		s.attack(addr, nil)
	}
}

func TestStrangersAtLocalServers(t *testing.T) {
	t.Parallel()
	s := newScene(t)
	c := s.run(3, "--ranks-per-server", "1", program("spin"))
	s.attackAll(3)
	c.answers("0-2")
	c.do("continue &")
	c.do("interrupt")
	c.comes("stopped", "0-2")
	c.quit()
}

func TestOneServerHasNoPort(t *testing.T) {
	t.Parallel()
	s := newScene(t)
	c := s.run(2, program("spin"))
	s.attackAll(0)
	c.quit()
}

// hello is all that a listening front end sends to an unauthenticated peer: the ClientHello of TLS,
// of which it is the client (docs/protocol.md, Authentication), and an alert after an answer that
// is not TLS.
var hello = regexp.MustCompile(`(?s)^\x16\x03\x01.{2}\x01.*$`)

// TestStrangersAtEveryDoor attacks each port before the real peer connects, and again when the
// session is complete.
func TestStrangersAtEveryDoor(t *testing.T) {
	t.Parallel()
	s := newScene(t)
	front, addr := s.listenNDJSON(2, "--log", s.dir+"/log")
	s.attack(addr, hello)
	master, meet := s.rendezvous(addr)
	s.attack(meet, nil)
	var slots []*process
	for i := range 2 {
		slots = append(slots, s.server(i, 2, "--rendezvous", meet, "--", program("spin")))
	}
	front.standing()
	s.attackAll(3) // of the master and of two servers
	front.answers("0-1")
	front.typed("quit 0")
	front.exits(0)
	master.exits(0)
	for _, p := range slots {
		p.exits(137)
	}
}

// TestStrangersAtServersInTheRoutes attacks servers that wait for their parent.
func TestStrangersAtServersInTheRoutes(t *testing.T) {
	t.Parallel()
	s := newScene(t)
	base := fmt.Sprint(s.freePort())
	for i := range 2 {
		p := s.server(i, 2, "--port", base, "--listen", "127.0.0.1", "--log-level", "info", "--", program("spin"))
		p.after(p.err, "listening")
	}
	s.attackAll(2)
	front, addr := s.listenNDJSON(2)
	master := s.start("sdm-master", "--connect", addr, "--generate-routes", "127.0.0.1", "--servers", "2", "--port", base)
	front.standing()
	front.answers("0-1")
	front.quit()
	master.exits(0)
}
