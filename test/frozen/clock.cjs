// Preloaded into every process of a replay: the clock runs as usual, from the moment in FROZEN_SHIFT on.
const shift = Number(process.env.FROZEN_SHIFT)
const RealDate = Date
const realNow = Date.now
globalThis.Date = class Date extends RealDate {
  constructor(...args) {
    if (args.length === 0) super(realNow() + shift)
    else super(...args)
  }
  static now() {
    return realNow() + shift
  }
}
