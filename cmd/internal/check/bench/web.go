// Pages: what sdm web costs, as far as it needs no browser.

package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net"
	"net/http"
	"strings"
	"time"

	"sdm/master/frontend/web"
	"sdm/master/session"
	"sdm/protocol"
)

// benchWeb measures the door of browsers on simulated ranks.
func benchWeb(b *bench) { b.runInside("web") }

// browser asks a door as a page does.
type browser struct {
	client *http.Client
	at     string
	key    string
	token  func() string
	leave  func()
}

// browse serves a page of a shared session.
func (s *sharedSession) browse() *browser {
	view, err := s.hub.Join(protocol.FrontEnd{Name: "page", Door: "web"}, nil)
	if err != nil {
		fatal("join", err)
	}
	welcome := view.Welcome()
	door := web.New(web.Config{Session: view, Ranks: s.all(), Welcome: &welcome, Allow: protocol.Steer})
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		fatal("listen", err)
	}
	ctx, cancel := context.WithCancel(context.Background())
	over := make(chan error, 1)
	go func() { over <- door.Serve(ctx, web.Peers(l, slog.New(slog.DiscardHandler))) }() // ends with leave
	p := &browser{client: &http.Client{Transport: &http.Transport{}}, at: "http://" + l.Addr().String(), token: door.Token}
	p.leave = func() {
		p.client.CloseIdleConnections()
		cancel()
		if err := <-over; err != nil {
			fatal("sdm web", err)
		}
		view.Leave(door.Seen())
		<-door.Over()
	}
	return p
}

// ask returns an answer; its reader is not read, and not closed, if stalls.
func (p *browser) ask(path, body string, stalls bool) string {
	method := http.MethodGet
	if body != "" {
		method = http.MethodPost
	}
	r, err := http.NewRequest(method, p.at+path, strings.NewReader(body))
	if err != nil {
		fatal(path, err)
	}
	r.Header.Set("Authorization", "Bearer "+p.key)
	answer, err := p.client.Do(r)
	if err != nil {
		fatal(path, err)
	}
	if stalls {
		return ""
	}
	defer answer.Body.Close()
	said, err := io.ReadAll(answer.Body)
	if err == nil && answer.StatusCode != http.StatusOK {
		err = errors.New(string(said))
	}
	if err != nil {
		fatal(path, err)
	}
	return string(said)
}

// open opens a link, and asks for what a page shows first.
func (p *browser) open() {
	for _, path := range []string{"/", "/style.css", "/page.js"} {
		p.ask(path, "", false)
	}
	var given struct{ Key string }
	if err := json.Unmarshal([]byte(p.ask("/api/key", fmt.Sprintf(`{"token":%q}`, p.token()), false)), &given); err != nil {
		fatal("key", err)
	}
	p.key = given.Key
	p.ask("/api/session", "", false)
	p.ask("/api/states", "", false)
}

// insideWeb measures a page.
func insideWeb(in *insider) {
	const ranks = 64
	in.say("a page of %d simulated ranks", ranks)
	c := startSimulated(ranks, 8, "binomial", "run 0ms\nloop all\n", nil)
	s := c.share()
	s.launch("work")
	p := s.browse()
	in.add(fmt.Sprintf("what a page of %d ranks asks for first", ranks), "ms", ms(timed(p.open)(20)), 50)
	stop := func(rounds int) time.Duration {
		took := make([]time.Duration, rounds)
		for i := range took {
			s.ask(session.Call{Command: "continue"})
			began := time.Now()
			s.call(session.Call{Command: "interrupt"})
			s.stopped(s.all())
			took[i] = time.Since(began)
		}
		return median(took)
	}
	alone := stop(20)
	p.ask("/api/events", "", true)
	in.out.Encode(figure{What: "64 ranks are interrupted, beside a page that reads nothing, against none that streams", Unit: "ms",
		Ours: ms(stop(20)), Floor: ms(alone), Times: 1, Slack: 5})
	p.leave()
	s.end()
	c.close()

	const servers = 16_384
	in.say("a page of %d simulated ranks", 64*servers)
	c = startSimulated(64*servers, servers, "binomial", "", nil)
	s = c.share()
	s.launch("work")
	p = s.browse()
	in.add(fmt.Sprintf("what a page of %d ranks asks for first", 64*servers), "ms", ms(timed(p.open)(5)), 200)
	p.leave()
	s.end()
	c.close()
}
