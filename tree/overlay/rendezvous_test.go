// Registration, on both sides.

package overlay

import (
	"context"
	"errors"
	"fmt"
	"io"
	"maps"
	"net"
	"runtime"
	"slices"
	"strings"
	"testing"

	"sdm/protocol"
	"sdm/protocol/rank"
)

func rendezvous(t *testing.T, secret Secret) *RendezvousListener {
	t.Helper()
	r, err := NewRendezvous(listen(t, "127.0.0.1:0"), secret, Identity{Host: "login1", Program: "/usr/bin/sdm", Build: "b1"})
	check(t, err)
	t.Cleanup(func() { r.Close() })
	return r
}

func registration(server int) Registration {
	return Registration{Server: protocol.ServerID(server), Size: 2, Host: "node07", PID: 11, Addrs: []string{"10.0.0.7:7000", "[::1]:7000"},
		Program: "/opt/sdm-server", Build: "b2"}
}

// A master for two servers, and its answers to registrations.
func TestRendezvous(t *testing.T) {
	secret := NewSecret()
	r := rendezvous(t, secret)
	ctx, cancel := context.WithCancel(testContext(t))
	defer cancel()
	met := make(chan Registration, 10)
	ended := async(func() error {
		seen := map[protocol.ServerID]string{}
		for {
			reg, answer, err := r.Accept(ctx)
			if err != nil {
				return err
			}
			met <- reg
			switch host, double := seen[reg.Server]; {
			case double:
				answer(Decision{Refusal: "number 1 is taken by " + host})
			case reg.Server >= 2:
				answer(Decision{Refusal: "there are 2 servers, numbers 0 and 1"})
			default:
				seen[reg.Server] = reg.Host
				answer(Decision{})
				answer(Decision{Refusal: "again: does nothing"})
			}
		}
	})
	tests := []struct {
		name   string
		server int
		text   string // of the refusal
	}{
		{"first", 0, ""},
		{"second", 1, ""},
		{"number doubled", 1, "number 1 is taken by node07"},
		{"beyond the size", 2, "there are 2 servers, numbers 0 and 1"},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			link, _, err := Register(testContext(t), []string{r.Addr()}, secret, registration(test.server), nil)
			got := await(t, "the registration", met)
			if want := registration(test.server); got.Server != want.Server || got.Host != want.Host || got.PID != want.PID ||
				got.Size != want.Size || got.Program != want.Program || got.Build != want.Build || !slices.Equal(got.Addrs, want.Addrs) {
				t.Errorf("the master got %+v, want %+v", got, want)
			}
			if test.text == "" {
				check(t, err)
				check(t, link.Close())
			} else if !errors.Is(err, ErrRefused) || !strings.Contains(err.Error(), test.text) {
				t.Errorf("error %v, want %q", err, test.text)
			}
		})
	}
	cancel()
	if err := await(t, "Accept", ended); err != context.Canceled {
		t.Errorf("Accept: %v", err)
	}
}

func TestRegisterRefusesItself(t *testing.T) {
	for name, change := range map[string]func(*Registration){
		"number below 0":     func(r *Registration) { r.Server = -1 },
		"number too high":    func(r *Registration) { r.Server = maxServers },
		"size below 0":       func(r *Registration) { r.Size = -1 },
		"host too long":      func(r *Registration) { r.Host = strings.Repeat("h", maxName+1) },
		"too many addresses": func(r *Registration) { r.Addrs = make([]string, maxAddrs+1) },
		"address too long":   func(r *Registration) { r.Addrs = []string{strings.Repeat("1", 300)} },
	} {
		r := registration(0)
		change(&r)
		if _, _, err := Register(testContext(t), []string{closedPort(t)}, NewSecret(), r, nil); err == nil || !strings.HasPrefix(err.Error(), "register with") {
			t.Errorf("%s: %v", name, err)
		}
		// A server that does not validate its registration is refused by the
		// master.
		if err := judgeRegistration(hello{introduction: introduction{Version: protocol.PacketVersion}, Register: &r}, Identity{}); !errors.Is(err, ErrRefused) {
			t.Errorf("%s: the master says %v", name, err)
		}
	}
}

func TestRendezvousRefusesVersion(t *testing.T) {
	h := hello{introduction: introduction{Version: protocol.PacketVersion + 1, Host: "node07", Program: "/opt/sdm-server"}, Register: &Registration{}}
	err := judgeRegistration(h, Identity{Host: "login1", Program: "/usr/bin/sdm"})
	if !errors.Is(err, ErrVersion) || err.Error() != "login1:/usr/bin/sdm speaks version 4, node07:/opt/sdm-server speaks version 5; install the same build on all hosts" {
		t.Errorf("the master says %v", err)
	}
}

func TestRegisterWithWrongSecret(t *testing.T) {
	r := rendezvous(t, NewSecret())
	var missed error
	told(t, func(ctx context.Context) error {
		_, _, err := Register(ctx, []string{r.Addr()}, NewSecret(), registration(0), func(err error) { missed = err })
		return err
	}, func(err error) bool { return errors.Is(err, ErrSecret) && errors.Is(missed, ErrSecret) })
}

// Servers that wait for an answer detect that the master is gone, and retry.
func TestRendezvousCloses(t *testing.T) {
	secret := NewSecret()
	r := rendezvous(t, secret)
	ctx, cancel := context.WithCancel(context.Background())
	registered := async(func() error {
		_, _, err := Register(ctx, []string{r.Addr()}, secret, registration(0), nil)
		return err
	})
	_, answer, err := r.Accept(testContext(t))
	check(t, err)
	check(t, r.Close())
	answer(Decision{}) // too late; has no effect
	if _, _, err := r.Accept(testContext(t)); err != net.ErrClosed {
		t.Errorf("Accept after Close: %v", err)
	}
	cancel()
	if err := await(t, "Register", registered); err == nil {
		t.Error("Register succeeded without a master")
	}
}

// Accepted servers detect that the master is gone, and the master removes those
// that are gone.
func TestRegistrationEndsWithTheMaster(t *testing.T) {
	secret := NewSecret()
	r := rendezvous(t, secret)
	registered := async(func() error {
		stays, _, err := Register(testContext(t), []string{r.Addr()}, secret, registration(0), nil)
		if err != nil {
			return err
		}
		defer stays.Close()
		goes, _, err := Register(testContext(t), []string{r.Addr()}, secret, registration(1), nil)
		if err == nil {
			err = goes.Close()
		}
		if err == nil {
			_, err = stays.Receive() // until the master goes
		}
		return err
	})
	for range 2 {
		_, answer, err := r.Accept(testContext(t))
		check(t, err)
		answer(Decision{})
	}
	for len(r.open()) > 1 { // the second has gone
		runtime.Gosched()
	}
	check(t, r.Close())
	if err := await(t, "the end of the link", registered); !errors.Is(err, io.EOF) {
		t.Errorf("the server saw %v", err)
	}
}

func (r *RendezvousListener) open() map[*stream]bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	return maps.Clone(r.links)
}

// A server that represents the slots of its node is assigned a number.
func TestRendezvousNumbersServersWithRanks(t *testing.T) {
	secret := NewSecret()
	l := rendezvous(t, secret)
	registered := async(func() error {
		r := registration(-1)
		r.Ranks = rank.Range(4, 7)
		link, number, err := Register(testContext(t), []string{closedPort(t), l.Addr()}, secret, r, nil)
		if err == nil && number != 3 {
			err = fmt.Errorf("number %d", number)
		}
		if link != nil {
			link.Close()
		}
		return err
	})
	r, answer, err := l.Accept(testContext(t))
	check(t, err)
	if r.Ranks.String() != "4-7" {
		t.Errorf("ranks %s", r.Ranks)
	}
	answer(Decision{Server: 3})
	check(t, <-registered)
}
