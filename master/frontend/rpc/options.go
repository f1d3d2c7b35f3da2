package rpc

import (
	"errors"
	"log/slog"
	"time"

	"sdm/master/dial"
)

// Options are what both sides of the door need.
type Options struct {
	// Secret is what both sides prove to know. It must not be empty where the
	// door is TCP.
	Secret []byte
	// Plaintext permits TCP without TLS. The secret is asked for all the same, but whoever
	// is on the way can read and change what is said.
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
	return o
}

// needSecret refuses a door without a key.
func (o Options) needSecret() error {
	if len(o.Secret) == 0 {
		return errors.New("rpc: Secret: a door over TCP needs one")
	}
	return nil
}
