// Package admission holds the byte budgets that bound resident work. A Permit travels with the work and is released when it is
// done.
package admission
