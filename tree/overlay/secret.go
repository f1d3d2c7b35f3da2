// The secret of a session, and the keys derived from it.

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

// Secret is the shared key of a session. A program that knows it can run code as the
// user of the session.
type Secret [32]byte

// NewSecret returns a random secret.
func NewSecret() Secret {
	var s Secret
	rand.Read(s[:]) // never fails, see crypto/rand
	return s
}

// ForSession derives the secret of one session from a long-lived one, so that
// servers of different sessions of one user do not accept each other.
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

// errKey is the error for another side that uses TLS with another key.
var errKey = errors.New("the other side has another secret")

// purpose distinguishes kinds of listeners. Their keys differ, so a side that dials
// the wrong kind is not authenticated.
type purpose string

const (
	forLinks      purpose = "link"
	forRendezvous purpose = "rendezvous"
)

// credentials is what a side needs for TLS 1.3 with mutual proof of the secret: an
// ed25519 key derived from the secret, in a certificate that exists only because
// TLS requires one. Peers compare the key and nothing else of it.
type credentials struct {
	certificate tls.Certificate
	public      ed25519.PublicKey
	tokens      *tokens
}

func newCredentials(s Secret, p purpose) (*credentials, error) {
	key := ed25519.NewKeyFromSeed(s.derive("sdm key "+string(p), ed25519.SeedSize))
	public := key.Public().(ed25519.PublicKey)
	// The validity is unlimited, because clocks of nodes may be wrong: a session
	// ends with its secret, not at a date.
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
		tokens:      &tokens{key: s.derive("sdm word "+string(p), sha256.Size)},
	}, nil
}

// config returns the TLS configuration of either side for a token. Sessions are not
// resumed: a link lives as long as its neighbours, and a full handshake takes under
// a millisecond.
func (c *credentials) config(token string) *tls.Config {
	return &tls.Config{
		MinVersion:             tls.VersionTLS13,
		Certificates:           []tls.Certificate{c.certificate},
		NextProtos:             []string{token},
		SessionTicketsDisabled: true,
		// There is no authority and no name to verify; verify compares the key.
		InsecureSkipVerify: true,
		ClientAuth:         tls.RequireAnyClientCert,
		VerifyConnection:   c.verify,
		// Records of up to 16 KiB at once, because a packet is not used before its
		// end.
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

// listening returns the configuration of a listener. known is called when the other
// side has sent a valid token, before anything is sent to it.
func (c *credentials) listening(known func()) *tls.Config {
	return &tls.Config{
		MinVersion: tls.VersionTLS13,
		GetConfigForClient: func(client *tls.ClientHelloInfo) (*tls.Config, error) {
			protos := client.SupportedProtos // a token; see tokens
			if len(protos) != 1 || !c.tokens.accept(protos[0]) {
				return nil, errKey
			}
			known()
			return c.config(protos[0]), nil
		},
	}
}
