export {};
//# sourceMappingURL=extension.js.map
