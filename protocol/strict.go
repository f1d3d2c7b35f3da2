// Reading JSON of front ends.

package protocol

import (
	"bytes"
	"encoding/json"
	"errors"
	"strings"
)

// ReadStrictly reads the JSON object at the beginning of raw; a name that into does not have is an error.
func ReadStrictly(raw []byte, into any) error {
	dec := json.NewDecoder(bytes.NewReader(raw))
	dec.DisallowUnknownFields()
	if err := dec.Decode(into); err != nil {
		return errors.New(strings.TrimPrefix(err.Error(), "json: "))
	}
	return nil
}
