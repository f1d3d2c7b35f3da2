// Package listen listens with one port on several addresses of this host.
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

// several is a listener with one port on several addresses. Its goroutines, one for each address,
// end with Close.
type several struct {
	all   []net.Listener
	conns chan net.Conn
	fails chan error
	done  chan struct{}
	once  sync.Once
	group sync.WaitGroup
}

// anyTries bounds the ports that the kernel is asked for if any will do: one that is free on the first
// host may be in use on another.
const anyTries = 16

// All listens on all hosts with one port: the first of the ports from base on that is free on all
// of them, or any if base is 0. Hosts that do not belong to this machine are left out, unless none
// does.
func All(hosts []string, base, ports int) (net.Listener, error) {
	if base == 0 {
		ports = anyTries
	}
	for i := 0; i < ports && base+i <= 65535; i++ {
		port := base + i
		if base == 0 {
			port = 0
		}
		s, err := on(hosts, port)
		if err == nil {
			return s, nil
		}
		if !errors.Is(err, syscall.EADDRINUSE) {
			return nil, err
		}
	}
	if base == 0 {
		return nil, errors.New("no port is free on all addresses of this host")
	}
	return nil, fmt.Errorf("ports from %d on are all in use; choose another base port", base)
}

// on listens on all hosts with one port; 0: the port that the first host gets.
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

// accept passes on the connections of one listener until it fails or is closed.
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

// Accept returns the next connection on any of the addresses.
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

// Addr returns the first address.
func (s *several) Addr() net.Addr { return s.all[0].Addr() }

// Addrs returns all addresses of a listener, "host:port", in the order of the hosts that were given
// to All.
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

// OwnHosts returns the addresses of this host's name and then the loopback address, because the
// routing file of a job on one machine often contains localhost.
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

// maxHosts limits Reachable. A machine with more addresses has bridges of containers.
const maxHosts = 8

// Reachable returns the addresses by which other hosts may reach this one, IPv4 first; if there are
// none, the loopback address. It asks no name service, which may be slow.
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

// Towards returns the addresses of this host from which it reaches others, without duplicates. It
// sends no packet. If none is reached, it returns all errors, joined.
func Towards(addrs ...string) ([]string, error) {
	var hosts []string
	var failed error
	for _, addr := range addrs {
		conn, err := net.Dial("udp", addr)
		if err != nil {
			failed = errors.Join(failed, err)
			continue
		}
		host, _, err := net.SplitHostPort(conn.LocalAddr().String())
		conn.Close()
		if err == nil && !slices.Contains(hosts, host) {
			hosts = append(hosts, host)
		}
	}
	if len(hosts) == 0 {
		return nil, failed
	}
	return hosts, nil
}
