// Common information entries.

package cfi

import "bytes"

// common is a common information entry (CIE), which several entries share.
type common struct {
	codeFactor uint64
	dataFactor int64
	ra         uint64 // register of the return address
	encoding   byte   // of code addresses in entries
	augmented  bool   // entries have augmentation data
	signal     bool
	initial    []byte // instructions
}

// common reads the common information entry at an address.
func (t *Table) common(at uint64) (*common, error) {
	r, _, err := t.entry(at)
	if err != nil {
		return nil, err
	}
	if _, ok := t.commonOf(r); ok || r.bad {
		return nil, errDamaged
	}
	return parseCommon(r)
}

// parseCommon decodes a common information entry; r is after its CIE_id.
func parseCommon(r *reader) (*common, error) {
	version := r.u8()
	if version != 1 && version != 3 && version != 4 {
		return nil, errDamaged
	}
	end := bytes.IndexByte(r.b[r.pos:], 0)
	if end < 0 {
		return nil, errDamaged
	}
	augmentation := r.take(uint64(end))
	r.u8()
	if version == 4 {
		r.take(2) // sizes of addresses and segments
	}
	c := &common{codeFactor: r.uleb(), dataFactor: r.sleb()}
	if version == 1 {
		c.ra = uint64(r.u8())
	} else {
		c.ra = r.uleb()
	}
	c.augment(r, augmentation)
	c.initial = r.b[r.pos:]
	if r.bad {
		return nil, errDamaged
	}
	return c, nil
}

// augment reads the augmentation data of the augmentation string letters. Its length is known, so that data
// of unknown letters at its end is skipped.
func (c *common) augment(r *reader, letters []byte) {
	if len(letters) == 0 {
		return
	}
	if letters[0] != 'z' {
		r.bad = true
		return
	}
	c.augmented = true
	size := r.uleb()
	at := r.at + uint64(r.pos)
	data := &reader{b: r.take(size), at: at}
	for _, letter := range letters[1:] {
		switch letter {
		case 'R':
			c.encoding = data.u8()
		case 'P':
			data.value(data.u8())
		case 'L':
			data.u8()
		case 'S':
			c.signal = true
		}
	}
	r.bad = r.bad || data.bad
}
