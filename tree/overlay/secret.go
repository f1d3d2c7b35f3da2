// The secret of a session, and what is derived from it.

package overlay

import (
	"bytes"
	"crypto/ed25519"
	"crypto/hkdf"
	"crypto/rand"
	"crypto/sha256"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"math/big"
	"time"
)

// Secret is what the neighbours of a session share. Whoever knows it may run
// code as the user.
type Secret [32]byte

// NewSecret makes a fresh one.
func NewSecret() Secret {
	var s Secret
	rand.Read(s[:]) // never fails, see crypto/rand
	return s
}

// ForSession derives the secret of one session from a long-lived one, so that
// servers of different sessions of one user do not mistake each other.
func (s Secret) ForSession(session string) Secret {
	return Secret(s.derive("sdm session "+session, len(s)))
}

// String keeps secrets out of messages.
func (s Secret) String() string { return "(secret)" }

// GoString keeps secrets out of messages.
func (s Secret) GoString() string { return "(secret)" }

func (s Secret) derive(what string, n int) []byte {
	key, err := hkdf.Key(sha256.New, s[:], nil, what, n)
	if err != nil {
		panic("overlay: derive a key: " + err.Error()) // only for n > 8,160
	}
	return key
}

// errKey: the other side speaks TLS and has another key.
var errKey = errors.New("the other side has another secret")

// purpose keeps kinds of listeners apart: the keys differ, and a side that dials
// the wrong kind is a stranger.
type purpose string

const (
	forLinks      purpose = "link"
	forRendezvous purpose = "rendezvous"
)

// credentials are what a side needs for TLS 1.3 with both sides proving the
// secret: an ed25519 key derived from it, in a certificate that is only there
// because TLS wants one. Peers compare the key and nothing else of it.
type credentials struct {
	certificate tls.Certificate
	public      ed25519.PublicKey
	words       *words
}

func newCredentials(s Secret, p purpose) (*credentials, error) {
	key := ed25519.NewKeyFromSeed(s.derive("sdm key "+string(p), ed25519.SeedSize))
	public := key.Public().(ed25519.PublicKey)
	// The dates are far off, as clocks of nodes may be: a session ends with its
	// secret, not with a date.
	template := &x509.Certificate{
		SerialNumber: big.NewInt(1),
		NotBefore:    time.Unix(0, 0),
		NotAfter:     time.Date(9999, 12, 31, 23, 59, 59, 0, time.UTC), // RFC 5280, 4.1.2.5: no end
	}
	der, err := x509.CreateCertificate(rand.Reader, template, template, public, key)
	if err != nil {
		return nil, fmt.Errorf("make a certificate: %w", err)
	}
	return &credentials{
		certificate: tls.Certificate{Certificate: [][]byte{der}, PrivateKey: key},
		public:      public,
		words:       &words{key: s.derive("sdm word "+string(p), sha256.Size)},
	}, nil
}

// config is for both sides, which agree on a word; neither keeps sessions: a link lives
// as long as its neighbours, and a full handshake takes under a millisecond.
func (c *credentials) config(word string) *tls.Config {
	return &tls.Config{
		MinVersion:             tls.VersionTLS13,
		Certificates:           []tls.Certificate{c.certificate},
		NextProtos:             []string{word},
		SessionTicketsDisabled: true,
		// There is no authority and no name to verify; verify pins the key.
		InsecureSkipVerify: true,
		ClientAuth:         tls.RequireAnyClientCert,
		VerifyConnection:   c.verify,
		// One record of up to 16 KiB at once: a packet has no use before its end.
		DynamicRecordSizingDisabled: true,
	}
}

func (c *credentials) verify(state tls.ConnectionState) error {
	if len(state.PeerCertificates) != 1 {
		return errKey
	}
	key, ok := state.PeerCertificates[0].PublicKey.(ed25519.PublicKey)
	if !ok || !bytes.Equal(key, c.public) {
		return errKey
	}
	return nil
}

// listening is config for a listener; known is called once the other side has
// said a word, before anything is answered.
func (c *credentials) listening(known func()) *tls.Config {
	return &tls.Config{
		MinVersion: tls.VersionTLS13,
		GetConfigForClient: func(client *tls.ClientHelloInfo) (*tls.Config, error) {
			said := client.SupportedProtos
			if len(said) != 1 || !c.words.accept(said[0]) {
				return nil, errKey
			}
			known()
			return c.config(said[0]), nil
		},
	}
}
