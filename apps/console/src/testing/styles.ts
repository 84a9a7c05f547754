/** Stands for a style sheet: the name of each class is its own. */
export default new Proxy<Record<string, string>>({}, { get: (_styles, name) => String(name) });
