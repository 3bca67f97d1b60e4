/** @file jax-js maps over iterators (ES2025): Node has that from version 22 on, this project runs from 20 on. */
const prototype = Object.getPrototypeOf(Object.getPrototypeOf([][Symbol.iterator]()));

/** @template T @param {string} name @param {(this: Iterable<T>, f: (value: T) => unknown) => unknown} method */
function add(name, method) {
  if (name in prototype) return;
  Object.defineProperty(prototype, name, { value: method, configurable: true, writable: true });
}

add('map', function* (f) {
  for (const value of this) yield f(value);
});
add('filter', function* (f) {
  for (const value of this) if (f(value)) yield value;
});
add('toArray', function () {
  return [...this];
});
