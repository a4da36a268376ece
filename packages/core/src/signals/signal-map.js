export {};
//# sourceMappingURL=signal-map.js.map
