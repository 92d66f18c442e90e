// No tool. The benchmark compares every other adapter with it.
export default {
  name: 'none',
  prepare() {},
}
