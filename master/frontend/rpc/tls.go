// TLS with certificates for one connection.

package rpc

import (
	"context"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/sha256"
	"crypto/tls"
	"crypto/x509"
	"encoding/hex"
	"errors"
	"math/big"
	"net"
	"time"
)

// binding is the part of the proofs that identifies a certificate.
func binding(der []byte) string {
	sum := sha256.Sum256(der)
	return hex.EncodeToString(sum[:])
}

// serveTLS makes the master's end of a TLS connection. The master is the TLS server also if it has
// dialled, so that a front end needs no certificate. The certificate is made for this connection
// and proves nothing by itself.
func serveTLS(ctx context.Context, c net.Conn) (net.Conn, string, error) {
	cert, err := ephemeral()
	if err != nil {
		return nil, "", err
	}
	conn := tls.Server(c, &tls.Config{
		Certificates: []tls.Certificate{cert}, MinVersion: tls.VersionTLS13, SessionTicketsDisabled: true,
	})
	if err := conn.HandshakeContext(ctx); err != nil {
		return nil, "", err
	}
	return conn, binding(cert.Certificate[0]), nil
}

// joinTLS makes the front end's end. No authority has signed the certificate; the proofs
// authenticate it.
func joinTLS(ctx context.Context, c net.Conn) (net.Conn, string, error) {
	conn := tls.Client(c, &tls.Config{MinVersion: tls.VersionTLS13, InsecureSkipVerify: true}) //nolint:gosec // see above
	if err := conn.HandshakeContext(ctx); err != nil {
		return nil, "", err
	}
	certs := conn.ConnectionState().PeerCertificates
	if len(certs) == 0 {
		return nil, "", errors.New("the master shows no certificate")
	}
	return conn, binding(certs[0].Raw), nil
}

func ephemeral() (tls.Certificate, error) {
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		return tls.Certificate{}, err
	}
	now := time.Now()
	template := &x509.Certificate{
		SerialNumber: big.NewInt(now.UnixNano()),
		NotBefore:    now.Add(-24 * time.Hour), NotAfter: now.Add(365 * 24 * time.Hour), // clocks differ
	}
	der, err := x509.CreateCertificate(rand.Reader, template, template, &key.PublicKey, key)
	return tls.Certificate{Certificate: [][]byte{der}, PrivateKey: key}, err
}
