// Package arena is the only place where message memory is pooled: blocks of power-of-two sizes with counted references.
package arena
