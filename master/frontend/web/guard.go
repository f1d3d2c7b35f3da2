// What is refused before it is looked at: other sites, other names of this host.

package web

import (
	"errors"
	"net"
	"net/http"
)

// policy permits the page what is of its own origin, and nothing else.
const policy = "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self'; connect-src 'self'; " +
	"base-uri 'none'; form-action 'none'; frame-ancestors 'none'"

// setHeaders sets what each answer says of itself.
func setHeaders(h http.Header) {
	h.Set("Content-Security-Policy", policy)
	h.Set("X-Content-Type-Options", "nosniff")
	h.Set("Referrer-Policy", "no-referrer")
	h.Set("Cross-Origin-Opener-Policy", "same-origin")
	h.Set("Cross-Origin-Resource-Policy", "same-origin")
	h.Set("Cache-Control", "no-store")
}

// check returns why a request is refused. The names of this host keep other names out that lead here (DNS rebinding);
// Origin and Sec-Fetch-Site keep other pages out, those of other ports of this host among them. A program without them
// needs the key as any other. The page itself, which holds nothing, may be opened from anywhere, as by a click on its
// link in a terminal that is a page. Sources: Fetch Metadata Request Headers; RFC 6454.
func check(r *http.Request) error {
	if !isLoopback(r.Host) {
		return errors.New("this is not a name of this host: use localhost or 127.0.0.1")
	}
	if origin := r.Header.Values("Origin"); len(origin) > 1 || len(origin) == 1 && origin[0] != "http://"+r.Host {
		return errors.New("another page asks")
	}
	if r.URL.Path == "/" && r.Method == http.MethodGet {
		if mode := r.Header.Get("Sec-Fetch-Mode"); mode == "" || mode == "navigate" {
			return nil
		}
	}
	switch r.Header.Get("Sec-Fetch-Site") {
	case "", "same-origin":
		return nil
	}
	return errors.New("another page asks")
}

// isLoopback reports whether "HOST:PORT" or "HOST" is within the host of the browser.
func isLoopback(at string) bool {
	host, _, err := net.SplitHostPort(at)
	if err != nil {
		host = at
		if n := len(host); n > 2 && host[0] == '[' && host[n-1] == ']' {
			host = host[1 : n-1]
		}
	}
	ip := net.ParseIP(host)
	return host == "localhost" || ip != nil && ip.IsLoopback()
}
