// The dialog with RAS: lines of text over TCP.

package nccl

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"net"
	"strings"
	"time"

	"sdm/protocol"
)

// Port is where RAS listens for clients unless NCCL_RAS_ADDR says otherwise.
const Port = 28028

// collectTime is how long RAS may wait for processes that do not answer, in seconds; answerTime is how long the whole
// dialog may take: RAS waits once more for those that lie behind such processes.
const (
	collectTime = 1
	answerTime  = 8 * time.Second
)

// maxLine bounds a line of the dialog, in bytes.
const maxLine = 1 << 10

// Ask asks for the state of the job. It takes at most 8 s from now on, and the caller closes the connection. A release
// that knows no JSON gives its text.
func Ask(c net.Conn, now time.Time) (*Reply, error) {
	if err := c.SetDeadline(now.Add(answerTime)); err != nil {
		return nil, err
	}
	r, err := dialog(c)
	if err != nil {
		return nil, fmt.Errorf("NCCL's RAS: %w", err)
	}
	return r, nil
}

// dialog asks over a stream.
func dialog(stream io.ReadWriter) (*Reply, error) {
	in := bufio.NewReaderSize(stream, maxLine)
	say := func(line string) (string, error) {
		if _, err := io.WriteString(stream, line+"\n"); err != nil {
			return "", err
		}
		answer, err := in.ReadSlice('\n')
		if err != nil {
			return "", fmt.Errorf("no answer to %q: %w", line, err)
		}
		return strings.TrimSpace(string(answer)), nil
	}
	hello, err := say("CLIENT PROTOCOL 2")
	switch {
	case err != nil:
		return nil, err
	case !strings.HasPrefix(hello, "SERVER PROTOCOL "):
		return nil, fmt.Errorf("%q is no answer of it (is another program at this port?)", protocol.Clip(hello))
	}
	if ok, err := say(fmt.Sprintf("TIMEOUT %d", collectTime)); err != nil || ok != "OK" {
		return nil, errors.Join(errors.New("it has refused a time-out: "+protocol.Clip(ok)), err)
	}
	format, err := say("SET FORMAT json")
	if err != nil {
		return nil, err
	}
	if _, err := io.WriteString(stream, "VERBOSE STATUS\n"); err != nil {
		return nil, err
	}
	text, err := io.ReadAll(io.LimitReader(in, maxReply+1))
	switch {
	case err != nil:
		return nil, fmt.Errorf("the answer is not complete: %w", err)
	case format == "OK":
		return parse(text)
	case len(text) > maxText:
		text = append(text[:maxText], "\n..."...)
	}
	return &Reply{Text: string(text)}, nil
}

// maxText bounds an answer that is shown as it is, in bytes.
const maxText = 64 << 10
