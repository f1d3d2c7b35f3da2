// The files of the page.

package web

import (
	"embed"
	"net/http"
	"path"

	"sdm/master/hangfile/report"
)

//go:embed page
var files embed.FS

// contentTypes are the types of the files, by the ends of their names.
var contentTypes = map[string]string{
	".html": "text/html; charset=utf-8",
	".css":  "text/css; charset=utf-8",
	".svg":  "image/svg+xml",
	".js":   "text/javascript; charset=utf-8",
}

// servePage serves a file of the page.
func servePage(w http.ResponseWriter, r *http.Request) {
	name := r.URL.Path
	if name == "/" {
		name = "/index.html"
	}
	body, err := files.ReadFile("page" + name)
	kind := contentTypes[path.Ext(name)]
	switch {
	case name == "/page.js":
		body = script()
	case err != nil || kind == "":
		http.NotFound(w, r)
		return
	case name == "/style.css": // that of the report comes first
		body = append([]byte(report.Style), body...)
	}
	w.Header().Set("Content-Type", kind)
	_, _ = w.Write(body) // or the browser is gone
}

// fileOf returns a file of the page, which is there.
func fileOf(name string) []byte {
	body, err := files.ReadFile("page/" + name)
	if err != nil {
		panic(err)
	}
	return body
}
