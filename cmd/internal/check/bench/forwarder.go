// The bare forwarder: processes of a tree that pass a packet on to their children, wait for all
// answers, and answer with a packet of their own. Tree and TLS are those of sdm's servers, without
// parsing and merging.

package main

import (
	"bufio"
	"crypto/ed25519"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"encoding/binary"
	"fmt"
	"io"
	"math/big"
	"net"
	"os"
	"os/exec"
	"strconv"
	"strings"
	"syscall"
	"time"

	"sdm/tree/topology"
)

// forwarderTLS returns the configuration of one end: TLS 1.3 with certificates on both sides, as
// sdm's links have.
func forwarderTLS() *tls.Config {
	_, key, err := ed25519.GenerateKey(rand.Reader)
	if err != nil {
		fatal("forwarder", err)
	}
	template := &x509.Certificate{SerialNumber: big.NewInt(1), NotAfter: time.Now().Add(time.Hour)}
	der, err := x509.CreateCertificate(rand.Reader, template, template, key.Public(), key)
	if err != nil {
		fatal("forwarder", err)
	}
	return &tls.Config{
		MinVersion:         tls.VersionTLS13,
		Certificates:       []tls.Certificate{{Certificate: [][]byte{der}, PrivateKey: key}},
		ClientAuth:         tls.RequireAnyClientCert,
		InsecureSkipVerify: true, // only the cost of TLS matters here
	}
}

// forwarders is the root of a tree of bare forwarders, in this process.
type forwarders struct {
	cmds     []*exec.Cmd
	children []*hop
	alive    *os.File // a pipe to all of them: its end ends those that have no parent yet, too
}

// hop is a link to a child.
type hop struct {
	conn net.Conn
	in   *bufio.Reader
}

// send sends a packet.
func (h *hop) send(packet []byte) {
	if _, err := h.conn.Write(packet); err != nil {
		fatal("forwarder", err)
	}
}

// receive waits for a packet. It may reuse buf for it.
func (h *hop) receive(buf []byte) []byte {
	packet, err := readPacket(h.in, buf)
	if err != nil {
		fatal("forwarder", err)
	}
	return packet
}

// readPacket reads a packet with its length, four bytes, in front. It may reuse buf.
func readPacket(in *bufio.Reader, buf []byte) ([]byte, error) {
	buf = append(buf[:0], 0, 0, 0, 0)
	if _, err := io.ReadFull(in, buf); err != nil {
		return nil, err
	}
	n := int(binary.BigEndian.Uint32(buf))
	if n > 1<<20 {
		return nil, fmt.Errorf("packet of %d bytes", n)
	}
	buf = append(buf, make([]byte, n)...)
	if _, err := io.ReadFull(in, buf[4:]); err != nil {
		return nil, err
	}
	return buf, nil
}

// startForwarders starts size processes with a listening socket each and connects them to a tree of
// the given shape.
func startForwarders(shape string, size int) *forwarders {
	self, err := os.Executable()
	if err != nil {
		fatal("forwarder", err)
	}
	f := &forwarders{}
	var addrs []string
	var files []*os.File
	theirs, ours, err := os.Pipe()
	if err != nil {
		fatal("forwarder", err)
	}
	f.alive = ours
	defer theirs.Close()
	for range size {
		l, err := net.Listen("tcp", "127.0.0.1:0")
		if err != nil {
			fatal("forwarder", err)
		}
		file, err := l.(*net.TCPListener).File()
		if err != nil {
			fatal("forwarder", err)
		}
		addrs, files = append(addrs, l.Addr().String()), append(files, file)
		l.Close()
	}
	for i, file := range files {
		cmd := exec.Command(self, "forward", shape, strconv.Itoa(i+1), strings.Join(addrs, ","))
		cmd.ExtraFiles, cmd.Stdin, cmd.Stderr = []*os.File{file}, theirs, os.Stderr
		cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true} // as in startRelay
		if err := cmd.Start(); err != nil {
			fatal("forwarder", err)
		}
		file.Close()
		f.cmds = append(f.cmds, cmd)
	}
	f.children = connectChildren(shape, 0, addrs)
	for _, c := range f.children {
		c.receive(nil) // ready
	}
	return f
}

// connectChildren connects to the children of a vertex in a tree of a shape.
func connectChildren(form string, v topology.NodeID, addrs []string) []*hop {
	shape, err := topology.ParseShape(form, len(addrs))
	if err != nil {
		fatal("forwarder", err)
	}
	var children []*hop
	for _, c := range shape.Children(v) {
		conn, err := tls.Dial("tcp", addrs[c-1], forwarderTLS())
		if err != nil {
			fatal("forwarder", err)
		}
		children = append(children, &hop{conn, bufio.NewReader(conn)})
	}
	return children
}

// ask makes one broadcast and waits for its merged answer.
func (f *forwarders) ask(packet []byte) {
	for _, c := range f.children {
		c.send(packet)
	}
	for _, c := range f.children {
		packet = c.receive(packet)
	}
}

// pids returns the process IDs of the forwarders.
func (f *forwarders) pids() []int {
	var pids []int
	for _, cmd := range f.cmds {
		pids = append(pids, cmd.Process.Pid)
	}
	return pids
}

// close ends the forwarders.
func (f *forwarders) close() {
	for _, c := range f.children {
		c.conn.Close()
	}
	f.alive.Close()
	for _, cmd := range f.cmds {
		cmd.Wait()
	}
}

// serveForward runs one vertex, in a process that was started as `forward`.
func serveForward(args []string) {
	number, err := strconv.Atoi(args[1])
	if err != nil {
		fatal("forwarder", err)
	}
	v, addrs := topology.NodeID(number), strings.Split(args[2], ",")
	go func() { // ends with the process
		io.Copy(io.Discard, os.Stdin)
		os.Exit(0)
	}()
	l, err := net.FileListener(os.NewFile(3, "listener"))
	if err != nil {
		fatal("forwarder", err)
	}
	raw, err := l.Accept()
	if err != nil {
		fatal("forwarder", err)
	}
	l.Close()
	conn := tls.Server(raw, forwarderTLS())
	parent := &hop{conn, bufio.NewReader(conn)}
	children := connectChildren(args[0], v, addrs)
	var answer []byte
	for _, c := range children {
		answer = c.receive(answer)
	}
	parent.send([]byte{0, 0, 0, 1, 1}) // ready
	var packet []byte
	for {
		packet, err = readPacket(parent.in, packet)
		if err != nil {
			return
		}
		for _, c := range children {
			c.send(packet)
		}
		for _, c := range children {
			answer = c.receive(answer)
		}
		parent.send(packet)
	}
}
