// Package routefile reads and writes SDM's routing file: which server is where.
//
// The format is the original SDM's. The first line is the number of servers N. N lines follow in
// any order: the number of a server from 0, its host, and the port that it was told to listen on
// (it takes a higher one if that is in use). Empty lines and lines that begin with # are ignored.
//
//	2
//	0 node01 24000
//	1 node02 24000
package routefile

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"

	"sdm/protocol"
	"sdm/protocol/rank"
	"sdm/protocol/userfile"
)

// Ports is how many ports from the given one upwards a server may use; both sides rely on it.
const Ports = 1000

// maxLine bounds a line, in bytes; a host name has at most 255.
const maxLine = 4096

// hostLetters are the characters of names and addresses, IPv6 with a zone included.
const hostLetters = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789.-_:%"

// Parse reads a routing file. Server i holds rank i; the shape of the tree is not set. The routes
// are sorted by server. Errors name the line.
func Parse(r io.Reader) (protocol.RouteTable, error) {
	table := protocol.RouteTable{Size: -1}
	lines := bufio.NewScanner(r)
	lines.Buffer(make([]byte, 0, maxLine), maxLine)
	seen := map[protocol.ServerID]bool{}
	n := 0
	for lines.Scan() {
		n++
		fields := strings.Fields(lines.Text())
		if len(fields) == 0 || strings.HasPrefix(fields[0], "#") {
			continue
		}
		err := parseLine(&table, seen, fields)
		if err != nil {
			return protocol.RouteTable{}, fmt.Errorf("line %d: %w", n, err)
		}
	}
	if err := lines.Err(); errors.Is(err, bufio.ErrTooLong) {
		return protocol.RouteTable{}, fmt.Errorf("line %d: longer than %d bytes", n+1, maxLine)
	} else if err != nil {
		return protocol.RouteTable{}, err
	}
	if table.Size < 0 {
		return protocol.RouteTable{}, errors.New("empty: the first line is the number of servers")
	}
	if missing := missing(table.Size, seen); missing != "" {
		return protocol.RouteTable{}, fmt.Errorf("%d of %d servers given, missing: %s", len(seen), table.Size, missing)
	}
	slices.SortFunc(table.Routes, func(a, b protocol.Route) int { return int(a.Server - b.Server) })
	return table, nil
}

func parseLine(table *protocol.RouteTable, seen map[protocol.ServerID]bool, fields []string) error {
	if table.Size < 0 {
		size, err := number(fields[0], 1, int(rank.MaxID)+1)
		if err != nil || len(fields) != 1 {
			return fmt.Errorf("%q is not a number of servers", strings.Join(fields, " "))
		}
		table.Size = size
		return nil
	}
	if len(fields) != 3 {
		return fmt.Errorf("%d fields, want three: server, host, port", len(fields))
	}
	server, err := number(fields[0], 0, table.Size-1)
	if err != nil {
		return fmt.Errorf("server %w", err)
	}
	port, err := number(fields[2], 1, 65535)
	if err != nil {
		return fmt.Errorf("port %w", err)
	}
	if strings.ContainsFunc(fields[1], func(r rune) bool { return !strings.ContainsRune(hostLetters, r) }) {
		return fmt.Errorf("%q is not a host name or address", fields[1])
	}
	id := protocol.ServerID(server)
	if seen[id] {
		return fmt.Errorf("server %d is given twice", server)
	}
	seen[id] = true
	table.Routes = append(table.Routes, protocol.Route{
		Server: id, Host: fields[1], Ports: min(Ports, 65536-port),
		Addrs: []string{net.JoinHostPort(fields[1], strconv.Itoa(port))},
		Ranks: rank.Of(rank.ID(server)),
	})
	return nil
}

func number(text string, low, high int) (int, error) {
	n, err := strconv.Atoi(text)
	if err != nil || n < low || n > high {
		return 0, fmt.Errorf("%q is not a number from %d to %d", text, low, high)
	}
	return n, nil
}

// missing lists the first few servers that have no line.
func missing(size int, seen map[protocol.ServerID]bool) string {
	if len(seen) == size {
		return ""
	}
	var names []string
	for id := range protocol.ServerID(size) {
		if len(names) == 8 {
			names = append(names, "...")
			break
		}
		if !seen[id] {
			names = append(names, strconv.Itoa(int(id)))
		}
	}
	return strings.Join(names, ", ")
}

// Print writes a table so that Parse returns it. The format holds only the first address of each
// route.
func Print(w io.Writer, table protocol.RouteTable) error {
	b := bufio.NewWriter(w)
	fmt.Fprintln(b, table.Size)
	for _, r := range table.Routes {
		if len(r.Addrs) == 0 {
			return fmt.Errorf("server %d has no address", r.Server)
		}
		host, port, err := net.SplitHostPort(r.Addrs[0])
		if err != nil {
			return fmt.Errorf("server %d: %w", r.Server, err)
		}
		fmt.Fprintln(b, int(r.Server), host, port)
	}
	return b.Flush()
}

// maxBytes bounds a file. A million servers need some 40 MiB.
const maxBytes = 256 << 20

// Read reads a file, which may be a pipe. It ends with ctx.
func Read(ctx context.Context, path string) (protocol.RouteTable, error) {
	text, err := userfile.Read(ctx, path, maxBytes)
	if err != nil {
		return protocol.RouteTable{}, fmt.Errorf("routing file: %w", err)
	}
	return parse(path, text)
}

// parse is Parse, with the name of the file in errors.
func parse(path string, text []byte) (protocol.RouteTable, error) {
	table, err := Parse(bytes.NewReader(text))
	if err != nil {
		return table, fmt.Errorf("routing file %s: %w", path, err)
	}
	return table, nil
}

// retryPause is the time between two attempts of Await to read the file.
const retryPause = 50 * time.Millisecond

// errNotThere is why a file, such as a pipe without a writer, is not read any longer.
var errNotThere = errors.New("nobody writes it")

// unendedPause is how long a file must stay unchanged if its last line has no newline: the line may
// end with only the first digits of a port.
const unendedPause = time.Second

// Await reads a file that may not exist or not be complete yet: a script writes it, line by line,
// while master and servers start. wait bounds the attempts; 0 is without limit.
func Await(ctx context.Context, path string, wait time.Duration) (protocol.RouteTable, error) {
	reading := ctx
	if wait > 0 {
		var cancel context.CancelFunc
		reading, cancel = context.WithTimeoutCause(ctx, wait, errNotThere)
		defer cancel()
	}
	again := time.NewTicker(retryPause)
	defer again.Stop()
	var file growing
	var last error
	for {
		table, err := file.read(reading, path)
		if err == nil {
			return table, nil
		}
		if last == nil || !errors.Is(err, errNotThere) {
			last = err
		}
		select {
		case <-again.C:
		case <-reading.Done():
			if ctx.Err() != nil {
				return table, ctx.Err()
			}
			return table, fmt.Errorf("%w (after %v)", last, wait)
		}
	}
}

// growing is a file that another process may still be writing.
type growing struct {
	text  string
	since time.Time // when text was read first
}

// read reads the file. Its last line must have a newline, or the file must have been unchanged for
// unendedPause.
func (g *growing) read(ctx context.Context, path string) (protocol.RouteTable, error) {
	text, err := userfile.Read(ctx, path, maxBytes)
	now := time.Now()
	if err != nil {
		return protocol.RouteTable{}, fmt.Errorf("routing file: %w", err)
	}
	if g.text != string(text) || g.since.IsZero() {
		g.text, g.since = string(text), now
	}
	table, err := parse(path, text)
	if err == nil && !strings.HasSuffix(g.text, "\n") && now.Sub(g.since) < unendedPause {
		err = fmt.Errorf("routing file %s: the last line does not end", path)
	}
	return table, err
}

// Write writes a file. Other processes see the file only when it is complete.
func Write(path string, table protocol.RouteTable) error {
	f, err := os.CreateTemp(filepath.Dir(path), filepath.Base(path)+".*.part")
	if err != nil {
		return fmt.Errorf("routing file: %w", err)
	}
	err = errors.Join(Print(f, table), f.Chmod(0o644), f.Close())
	if err == nil {
		err = os.Rename(f.Name(), path)
	}
	if err != nil {
		os.Remove(f.Name())
		return fmt.Errorf("routing file: %w", err)
	}
	return nil
}
