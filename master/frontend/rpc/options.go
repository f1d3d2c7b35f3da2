// Options of connections.

package rpc

import (
	"errors"
	"log/slog"
	"time"

	"sdm/master/dial"
	"sdm/master/session"
)

// Options are the options of both sides of a connection.
type Options struct {
	// Secret is the shared secret. It must not be empty for TCP.
	Secret []byte
	// Plaintext permits TCP without TLS. Both sides are still authenticated, but others on the
	// network can read and change the messages.
	Plaintext bool
	// Wait bounds dialling, with all attempts; 0 is dial.DefaultWait.
	Wait time.Duration
	// Build is the version that the master reports.
	Build string
	// Job is the resource manager's name for the master's job, "" if there is none.
	Job string
	// Summary answers the method "summary" for who does not join the session; nil: there is no such method.
	Summary func() session.Summary
	// Log receives refused connections, failed attempts and the warning about plain text; nil
	// discards them.
	Log *slog.Logger
}

// handshakeWait bounds the time for the authentication of a connection.
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

// needSecret returns an error if there is no secret.
func (o Options) needSecret() error {
	if len(o.Secret) == 0 {
		return errors.New("rpc: Secret: a connection over TCP requires one")
	}
	return nil
}
