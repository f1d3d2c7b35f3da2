package rpc

import (
	"errors"
	"log/slog"
	"net"
	"time"

	"sdm/master/dial"
)

// Options are what both sides of the door need.
type Options struct {
	// Secret is what both sides prove to know. It must not be empty where the
	// door is TCP.
	Secret []byte
	// Plaintext permits TCP without TLS where it leaves this host. Both sides
	// are told; the secret is asked for all the same.
	Plaintext bool
	// Wait bounds dialling, all tries together; 0 is dial.DefaultWait.
	Wait time.Duration
	// Build is what the master calls itself.
	Build string
	// Job is the resource manager's name for the master's job, "" if there is none.
	Job string
	// Log takes refused strangers, failed tries and the warning of plain text;
	// nil drops them.
	Log *slog.Logger

	// local tells whether an address is on this host; nil looks. Tests set it.
	local func(net.Addr) bool
}

// handshakeWait bounds the time until a peer has proved what it must.
const handshakeWait = 10 * time.Second

func (o Options) withDefaults() Options {
	if o.Wait == 0 {
		o.Wait = dial.DefaultWait
	}
	if o.Log == nil {
		o.Log = slog.New(slog.DiscardHandler)
	}
	if o.local == nil {
		o.local = isLocal
	}
	return o
}

// needSecret refuses a door without a key.
func (o Options) needSecret() error {
	if len(o.Secret) == 0 {
		return errors.New("rpc: Secret: a door over TCP needs one")
	}
	return nil
}

// isLocal tells whether bytes to and from this address never leave the host.
func isLocal(a net.Addr) bool {
	switch a := a.(type) {
	case *net.TCPAddr:
		return a.IP.IsLoopback()
	case *net.UnixAddr:
		return true
	}
	return false
}
