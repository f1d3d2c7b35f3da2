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

// request makes a request. The body of its answer is to be closed.
func (p *browser) request(path, body string) *http.Response {
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
	return answer
}

// ask makes a request and returns what is answered.
func (p *browser) ask(path, body string) []byte {
	answer := p.request(path, body)
	defer answer.Body.Close()
	said, err := io.ReadAll(answer.Body)
	if err == nil && answer.StatusCode != http.StatusOK {
		err = errors.New(string(said))
	}
	if err != nil {
		fatal(path, err)
	}
	return said
}

// open opens a link, and asks for what a page shows first.
func (p *browser) open() {
	for _, path := range []string{"/", "/style.css", "/page.js"} {
		p.ask(path, "")
	}
	var given struct{ Key string }
	said := p.ask("/api/key", fmt.Sprintf(`{"token":%q}`, p.token()))
	if err := json.Unmarshal(said, &given); err != nil {
		fatal("key", err)
	}
	p.key = given.Key
	p.ask("/api/session", "")
	p.ask("/api/states", "")
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
	beside := func(rounds int) time.Duration {
		stalled := p.request("/api/events", "")
		defer stalled.Body.Close()
		return s.interrupts(rounds)
	}
	times := compare(5, 20, beside, s.interrupts).times
	in.out.Encode(figure{What: "64 ranks are interrupted, beside a page that reads nothing, against none", Unit: "ms",
		Ours: ms(times[0]), Floor: ms(times[1]), Times: 1, Slack: 5})
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
