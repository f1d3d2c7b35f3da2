// Messages against the JSON schema of the protocol, which the module go-dap brings along.

package dap

import (
	"bytes"
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"github.com/google/jsonschema-go/jsonschema"
)

// schema reads the schema of DAP once.
var schema = sync.OnceValues(func() (*jsonschema.Schema, error) {
	dir, err := exec.Command("go", "list", "-m", "-f", "{{.Dir}}", "github.com/google/go-dap").Output()
	if err != nil {
		return nil, err
	}
	b, err := os.ReadFile(filepath.Join(string(bytes.TrimSpace(dir)), "cmd/gentypes/debugProtocol.json"))
	if err != nil {
		return nil, err
	}
	s := new(jsonschema.Schema)
	return s, json.Unmarshal(b, s)
})

// resolved are the definitions that were used, ready to validate.
var resolved sync.Map

// checkSchema fails the test if a message does not fit the schema.
func checkSchema(t *testing.T, message []byte) {
	t.Helper()
	var m map[string]any
	if err := json.Unmarshal(message, &m); err != nil {
		t.Fatalf("%s: %v", message, err)
	}
	name, _ := m["event"].(string)
	kind := "Event"
	if m["type"] == "response" {
		kind, name = "Response", m["command"].(string)
		if m["success"] == false {
			name = "error"
		}
	}
	if m["type"] == "request" {
		kind, name = "Request", m["command"].(string)
	}
	if strings.HasPrefix(name, "sdm/") {
		name = ""
	}
	if err := definition(t, strings.ToUpper(name[:min(1, len(name))])+name[min(1, len(name)):]+kind).Validate(m); err != nil {
		t.Errorf("%s does not fit the schema: %v", message, err)
	}
}

// definition returns a definition of the schema.
func definition(t *testing.T, name string) *jsonschema.Resolved {
	if r, ok := resolved.Load(name); ok {
		return r.(*jsonschema.Resolved)
	}
	s, err := schema()
	if err != nil {
		t.Fatal(err)
	}
	if s.Definitions[name] == nil {
		t.Fatalf("DAP has no %s", name)
	}
	only := &jsonschema.Schema{Schema: "http://json-schema.org/draft-07/schema#", Definitions: s.Definitions, Ref: "#/definitions/" + name}
	r, err := only.Resolve(nil)
	if err != nil {
		t.Fatal(err)
	}
	resolved.Store(name, r)
	return r
}
