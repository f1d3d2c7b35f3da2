// Mutual authentication.

package rpc

import (
	"crypto/hmac"
	"crypto/rand"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"

	"sdm/protocol"
	"sdm/protocol/canonical"
)

// Both sides prove that they know the secret, without sending it, before any other message:
//
//	front end -> master  hello         {version, challenge F}
//	master -> front end                {version, build, challenge M, proof of the master}
//	front end -> master  authenticate  {proof of the front end}
//	master -> front end                {}
//
// A proof is HMAC-SHA256 over the side that proves, both challenges and the binding. The binding is
// the hash of the certificate of the TLS connection, which a relay cannot have on both sides, or
// "plain".
const (
	proofPrefix   = "sdm-rpc-1 "
	proofMaster   = "master"
	proofFrontEnd = "frontend"
	bindingPlain  = "plain"
)

// proof returns the proof of one side in hexadecimal.
func proof(secret []byte, who, master, frontEnd, binding string) string {
	mac := hmac.New(sha256.New, secret)
	fmt.Fprintf(mac, "%s%s\n%s\n%s\n%s\n", proofPrefix, who, master, frontEnd, binding)
	return hex.EncodeToString(mac.Sum(nil))
}

// equalProofs compares two proofs in constant time.
func equalProofs(got, want string) bool { return hmac.Equal([]byte(got), []byte(want)) }

// newChallenge returns 32 random bytes in hexadecimal.
func newChallenge() string {
	var b [32]byte
	rand.Read(b[:]) // never fails
	return hex.EncodeToString(b[:])
}

func isChallenge(text string) bool {
	b, err := hex.DecodeString(text)
	return err == nil && len(b) == 32
}

type helloParams struct {
	Version   int    `json:"version"`
	Challenge string `json:"challenge"`
}

type helloResult struct {
	Version   int    `json:"version"`
	Build     string `json:"build,omitempty"`
	Challenge string `json:"challenge"`
	Proof     string `json:"proof"`
}

type authParams struct {
	Proof string `json:"proof"`
}

// errSecret is the error if the other side does not know the secret.
var errSecret = errors.New("it does not know the secret; both sides must read the same secret file")

// admit is the master's part of the authentication.
func admit(c *Conn, secret []byte, build, binding string) error {
	var hello helloParams
	id, err := awaitCall(c, "hello", &hello)
	if err != nil {
		return err
	}
	if hello.Version != protocol.Version {
		text := fmt.Sprintf("the front end speaks version %d, this master version %d", hello.Version, protocol.Version)
		return reject(c, id, text)
	}
	if !isChallenge(hello.Challenge) {
		return reject(c, id, "the challenge must be 64 hexadecimal digits")
	}
	mine := newChallenge()
	answer := helloResult{protocol.Version, build, mine, proof(secret, proofMaster, mine, hello.Challenge, binding)}
	if err := c.write(respond(id, canonical.JSON(answer))); err != nil {
		return err
	}
	var auth authParams
	if id, err = awaitCall(c, "authenticate", &auth); errors.Is(err, io.EOF) {
		return errors.New("it hung up when it saw the master's proof; both sides must read the same secret file")
	} else if err != nil {
		return err
	}
	if !equalProofs(auth.Proof, proof(secret, proofFrontEnd, mine, hello.Challenge, binding)) {
		_ = reject(c, id, "the proof does not fit the secret of this master") // best effort
		return errSecret
	}
	return c.write(respond(id, []byte("{}")))
}

// awaitCall reads a request, which must be one for method.
func awaitCall(c *Conn, method string, params any) (json.RawMessage, error) {
	body, err := c.read()
	if err != nil {
		return nil, err
	}
	m, bad := decode(body)
	switch {
	case bad != nil:
		return nil, errors.Join(bad, c.write(refuse(m.ID, bad)))
	case m.Method != method || m.ID == nil:
		return nil, reject(c, m.ID, fmt.Sprintf("%q comes first", method))
	}
	if err := json.Unmarshal(m.Params, params); err != nil {
		return nil, reject(c, m.ID, method+": "+err.Error())
	}
	return m.ID, nil
}

func reject(c *Conn, id json.RawMessage, text string) error {
	return errors.Join(errors.New(text), c.write(refuse(id, failure(codeRefused, text))))
}

// introduce is the front end's part of the authentication. It returns the master's build.
func introduce(c *Conn, secret []byte, binding string) (build string, err error) {
	mine := newChallenge()
	var hello helloResult
	if err := askOnce(c, "hello", helloParams{protocol.Version, mine}, &hello); err != nil {
		return "", err
	}
	if hello.Version != protocol.Version {
		return "", fmt.Errorf("the master speaks version %d, this front end version %d", hello.Version, protocol.Version)
	}
	if !isChallenge(hello.Challenge) || !equalProofs(hello.Proof,
		proof(secret, proofMaster, hello.Challenge, mine, binding)) {
		return "", errSecret
	}
	theirs := authParams{proof(secret, proofFrontEnd, hello.Challenge, mine, binding)}
	return hello.Build, askOnce(c, "authenticate", theirs, &struct{}{})
}

// askOnce makes a call while nothing else uses the connection.
func askOnce(c *Conn, method string, params, result any) error {
	call := message{ID: json.RawMessage(`"` + method + `"`), Method: method, Params: canonical.JSON(params)}
	if err := c.write(encode(call)); err != nil {
		return err
	}
	body, err := c.read()
	if err != nil {
		return err
	}
	m, bad := decode(body)
	switch {
	case bad != nil:
		return bad
	case m.Error != nil:
		return fmt.Errorf("%s: refused: %w", method, m.Error)
	case string(m.ID) != string(call.ID):
		return fmt.Errorf("%s: the other side answers something else", method)
	}
	return json.Unmarshal(m.Result, result)
}
