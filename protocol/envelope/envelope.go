// Package envelope reads and writes messages behind a header Content-Length, as in the Language Server Protocol and
// the Debug Adapter Protocol.
package envelope

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"io"
	"strconv"
	"strings"
)

// MaxHeader bounds one header line, in bytes; a reader's buffer has at least this size. Only Content-Length is used.
const MaxHeader = 4096

// maxHeaders bounds the number of header lines.
const maxHeaders = 16

// Read reads one body with its headers (Language Server Protocol, "Base Protocol"; that of the
// Debug Adapter Protocol is the same), of at most max bytes. It allocates memory as the bytes arrive, not for what a
// header announces. io.EOF means that the peer closed the connection between two frames.
func Read(r *bufio.Reader, max int) ([]byte, error) {
	n, err := readHeaders(r)
	if err != nil {
		return nil, err
	}
	if n > max {
		return nil, fmt.Errorf("a message of %d bytes is too long, at most %d are taken", n, max)
	}
	var body bytes.Buffer
	if _, err := io.CopyN(&body, r, int64(n)); err != nil {
		if errors.Is(err, io.EOF) {
			err = io.ErrUnexpectedEOF
		}
		return nil, err
	}
	return body.Bytes(), nil
}

// readHeaders reads up to the empty line and returns the Content-Length.
func readHeaders(r *bufio.Reader) (int, error) {
	length := -1
	for i := range maxHeaders + 1 {
		line, err := readHeader(r)
		if err != nil {
			if i > 0 && errors.Is(err, io.EOF) {
				err = io.ErrUnexpectedEOF
			}
			return 0, err
		}
		if line == "" {
			if length < 0 {
				return 0, errors.New("a message without Content-Length")
			}
			return length, nil
		}
		name, value, _ := strings.Cut(line, ":")
		if !strings.EqualFold(strings.TrimSpace(name), "Content-Length") {
			continue
		}
		n, err := strconv.ParseUint(strings.TrimSpace(value), 10, 31)
		if err != nil {
			return 0, fmt.Errorf("Content-Length %q is not a length", strings.TrimSpace(value))
		}
		length = int(n)
	}
	return 0, fmt.Errorf("more than %d header lines", maxHeaders)
}

func readHeader(r *bufio.Reader) (string, error) {
	line, err := r.ReadSlice('\n')
	switch {
	case errors.Is(err, bufio.ErrBufferFull) || len(line) > MaxHeader:
		return "", fmt.Errorf("a header line of more than %d bytes", MaxHeader)
	case errors.Is(err, io.EOF) && len(line) > 0:
		return "", io.ErrUnexpectedEOF
	case err != nil:
		return "", err
	}
	return strings.TrimRight(string(line), "\r\n"), nil
}

// Append appends a body with its headers.
func Append(b, body []byte) []byte {
	b = append(b, "Content-Length: "...)
	b = strconv.AppendInt(b, int64(len(body)), 10)
	b = append(b, "\r\n\r\n"...)
	return append(b, body...)
}
