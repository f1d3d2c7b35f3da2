// Package listen opens one port on several addresses of this host.
package listen

import (
	"errors"
	"fmt"
	"net"
	"os"
	"slices"
	"strconv"
	"sync"
	"syscall"
)

// several is a listener on several addresses with one port. Its goroutines, one
// for each address, end with Close.
type several struct {
	all   []net.Listener
	conns chan net.Conn
	fails chan error
	done  chan struct{}
	once  sync.Once
	group sync.WaitGroup
}

// All opens the same port on all hosts: base, or the next of ports that is
// free on all of them; base 0 is any. A host that does not belong to this
// machine is passed over, as long as one does.
func All(hosts []string, base, ports int) (net.Listener, error) {
	for port := base; port < base+ports && port <= 65535; port++ {
		s, err := on(hosts, port)
		if err == nil {
			return s, nil
		}
		if !errors.Is(err, syscall.EADDRINUSE) {
			return nil, err
		}
	}
	return nil, fmt.Errorf("ports from %d on are all in use; choose another base port", base)
}

func on(hosts []string, port int) (*several, error) {
	s := &several{conns: make(chan net.Conn), fails: make(chan error, len(hosts)), done: make(chan struct{})}
	var last error
	for _, host := range hosts {
		l, err := net.Listen("tcp", net.JoinHostPort(host, strconv.Itoa(port)))
		switch {
		case err == nil:
			s.all = append(s.all, l)
			if port == 0 {
				port = l.Addr().(*net.TCPAddr).Port
			}
		case errors.Is(err, syscall.EADDRINUSE):
			s.Close()
			return nil, err
		default:
			last = err
		}
	}
	if len(s.all) == 0 {
		return nil, last
	}
	for _, l := range s.all {
		s.group.Go(func() { s.accept(l) })
	}
	return s, nil
}

func (s *several) accept(l net.Listener) {
	for {
		conn, err := l.Accept()
		if err != nil {
			s.fails <- err
			return
		}
		select {
		case s.conns <- conn:
		case <-s.done:
			conn.Close()
		}
	}
}

// Accept gives the next connection, whichever address it came to.
func (s *several) Accept() (net.Conn, error) {
	select {
	case <-s.done:
		return nil, net.ErrClosed
	default:
	}
	select {
	case conn := <-s.conns:
		return conn, nil
	case err := <-s.fails:
		return nil, err
	case <-s.done:
		return nil, net.ErrClosed
	}
}

// Close ends Accept and the goroutines.
func (s *several) Close() error {
	s.once.Do(func() { close(s.done) })
	var errs []error
	for _, l := range s.all {
		errs = append(errs, l.Close())
	}
	s.group.Wait()
	return errors.Join(errs...)
}

// Addr is the first address.
func (s *several) Addr() net.Addr { return s.all[0].Addr() }

// Addrs are all addresses of a listener, "host:port", best first: those of
// the hosts that it was opened on.
func Addrs(l net.Listener) []string {
	s, ok := l.(*several)
	if !ok {
		return []string{l.Addr().String()}
	}
	var all []string
	for _, one := range s.all {
		all = append(all, one.Addr().String())
	}
	return all
}

// OwnHosts are the addresses that others know this host by, and the loopback:
// the routing file of a job on one machine often says localhost.
func OwnHosts() []string {
	hosts := []string{loopback}
	name, err := os.Hostname()
	if err != nil {
		return hosts
	}
	addrs, err := net.LookupHost(name)
	if err != nil {
		return hosts
	}
	for _, a := range addrs {
		if a != hosts[0] && a != "::1" {
			hosts = append([]string{a}, hosts...)
		}
	}
	return hosts
}

const loopback = "127.0.0.1"

// maxHosts bounds Reachable: a machine with more has bridges of containers.
const maxHosts = 8

// Reachable are the addresses by which other hosts may reach this one, IPv4
// first; the loopback alone where there are none. It asks no name service, which
// on a laptop may take its time to say nothing.
func Reachable() []string {
	addrs, err := net.InterfaceAddrs()
	if err != nil {
		return []string{loopback}
	}
	var four, six []string
	for _, a := range addrs {
		network, ok := a.(*net.IPNet)
		switch {
		case !ok || !network.IP.IsGlobalUnicast():
		case network.IP.To4() != nil:
			four = append(four, network.IP.String())
		default:
			six = append(six, network.IP.String())
		}
	}
	all := append(four, six...)
	if len(all) == 0 {
		return []string{loopback}
	}
	return all[:min(len(all), maxHosts)]
}

// Towards gives the addresses of this host by which it reaches others, each
// once. No packet is sent. The error is that of the first, if none is reached.
func Towards(addrs ...string) ([]string, error) {
	var hosts []string
	var first error
	for _, addr := range addrs {
		conn, err := net.Dial("udp", addr)
		if err != nil {
			first = errors.Join(first, err)
			continue
		}
		host, _, err := net.SplitHostPort(conn.LocalAddr().String())
		conn.Close()
		if err == nil && !slices.Contains(hosts, host) {
			hosts = append(hosts, host)
		}
	}
	if len(hosts) == 0 {
		return nil, first
	}
	return hosts, nil
}
